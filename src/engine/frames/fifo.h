/* A queue of things that carry their own link, `T* next`: to queue one takes no memory, so it cannot fail. */
#ifndef VMAFX_ENGINE_FRAMES_FIFO_H
#define VMAFX_ENGINE_FRAMES_FIFO_H

#include <utility>

namespace vmafx {

template <class T>
class Fifo {
 public:
  bool empty() const { return !first_; }
  T* first() const { return first_; }  // nullptr: there is none

  void push_back(T& thing) {
    thing.next = nullptr;
    (first_ ? last_->next : first_) = &thing;
    last_ = &thing;
  }

  void push_front(T& thing) {
    if (!first_) last_ = &thing;
    thing.next = std::exchange(first_, &thing);
  }

  T& pop_front() {
    T& thing = *first_;
    first_ = thing.next;
    return thing;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace vmafx

#endif
