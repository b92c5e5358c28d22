/* Things that are made once and used again. */
#ifndef VMAFX_ENGINE_FRAMES_REUSE_H
#define VMAFX_ENGINE_FRAMES_REUSE_H

#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"

namespace vmafx {

/* Lends things of one kind. Any thread. A thing that is lent may outlive this object. */
template <class T>
class Reuse {
 public:
  /* Takes a thing at rest, if there is one. */
  std::optional<T> take() {
    const MutexLock lock(rest_->mutex);
    if (rest_->things.empty()) return std::nullopt;
    std::optional<T> thing(std::move(rest_->things.back()));
    rest_->things.pop_back();
    return thing;
  }

  /* Lends a thing, which comes to rest when the last reference goes. That cannot fail: its place is kept. */
  std::shared_ptr<const T> lend(T thing) {
    auto lent = std::make_unique<T>(std::move(thing));
    {
      const MutexLock lock(rest_->mutex);
      rest_->things.reserve(rest_->things.size() + rest_->lent + 1);
      rest_->lent++;
    }
    return {lent.release(), [rest = rest_](T* used) {
              const MutexLock lock(rest->mutex);
              rest->lent--;
              rest->things.push_back(std::move(*used));
              delete used;
            }};
  }

 private:
  struct Rest {
    Mutex mutex;
    std::vector<T> things VMAFX_GUARDED_BY(mutex);
    size_t lent VMAFX_GUARDED_BY(mutex) = 0;
  };
  std::shared_ptr<Rest> rest_ = std::make_shared<Rest>();
};

}  // namespace vmafx

#endif
