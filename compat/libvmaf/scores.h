/* The scores that a context has: by the names of features and models, and by the index of the picture. */
#ifndef COMPAT_LIBVMAF_SCORES_H
#define COMPAT_LIBVMAF_SCORES_H

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compat/libvmaf/abi.h"

namespace compat {

class Scores {
 public:
  using Column = std::map<unsigned, double>;  // by index

  struct Named {
    std::string name;
    Column column;
  };

  /* EINVAL: there is one already, which stays. */
  int put(const std::string& name, unsigned index, double score);
  std::optional<double> get(const std::string& name, unsigned index) const;

  /* In the order in which the first scores came. */
  const std::deque<Named>& all() const { return all_; }

 private:
  std::deque<Named> all_;
  std::unordered_map<std::string, Column*> by_name_;
};

/* Pools scores that reports call `key`, as reports do. EINVAL: there is no such method, or there are no scores. */
int pool(const std::string& key, VmafPoolingMethod method, const std::vector<double>& scores, double* pooled);

}  // namespace compat

#endif
