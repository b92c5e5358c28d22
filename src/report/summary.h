/* The log's lines about the scores of a whole stream. */
#ifndef VMAFX_REPORT_SUMMARY_H
#define VMAFX_REPORT_SUMMARY_H

#include <span>
#include <string>
#include <vector>

#include "kernels/extractor.h"
#include "report/scores.h"

namespace vmafx {

/* A column of the score table that the summary names. */
struct SummaryColumn {
  int column;
  Worse worse;
};

/* A line for each column:
 *
 *     vmaf: mean 94.826380, min 71.203312, max 99.999999; worst frames: 113 (4.520 s) 71.203312, 57 (2.280 s)
 *     75.120001, …
 *
 * Frames have the numbers that reports give them, and their times where they are known. Scores that are not finite are
 * counted and otherwise left out. Features that tell nothing of how good a picture is, those that are equal in all
 * frames, and those of which the table has forgotten scores have no worst frames. */
std::vector<std::string> summary_lines(std::span<const SummaryColumn> columns, const ScoreTable& table,
                                       int n_subsample);

}  // namespace vmafx

#endif
