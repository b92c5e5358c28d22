/* Words: what findings are called, and what they say to people: what is seen, the numbers, and the remedy in ffmpeg's
 * words. */
#ifndef VMAFX_ENGINE_LOOK_WORDS_H
#define VMAFX_ENGINE_LOOK_WORDS_H

#include "engine/look/finding.h"
#include "report/picture_doubts.h"

namespace vmafx::look {

/* The names of kinds and certainties in reports: "mirrored", "sure". */
const char* name_of(Kind kind);
const char* name_of(Certainty certainty);

PictureDoubt in_words(const Finding& finding);

}  // namespace vmafx::look

#endif
