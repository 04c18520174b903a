// intrusive_list<T>: elements linked both ways through their own members, any of which can be taken out.
//
//     front --> [T: newer, older] <--> [T] <--> [T] <-- back
//
// Plain state, two pointers, so that a heap with many lists is made and ended quickly. An element is in one
// list at a time, and the caller knows in which. Cost: O(1); what inspects is O(elements). Not synchronised.
#pragma once

#include <cstddef>

#include "mallard/core/usage.hpp"

namespace mallard {

// T: has members `newer` and `older`, pointers to T, which are the list's while it is in one.
template <class T>
class intrusive_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return front_ == nullptr; }
  [[nodiscard]] T* front() const noexcept { return front_; }
  [[nodiscard]] T* back() const noexcept { return back_; }

  void push_front(T* added) noexcept {
    added->newer = nullptr;
    added->older = front_;
    (front_ == nullptr ? back_ : front_->newer) = added;
    front_ = added;
  }

  void push_back(T* added) noexcept {
    added->newer = back_;
    added->older = nullptr;
    (back_ == nullptr ? front_ : back_->older) = added;
    back_ = added;
  }

  // Takes out an element of this list.
  void erase(T* taken) noexcept {
    (taken->newer == nullptr ? front_ : taken->newer->older) = taken->older;
    (taken->older == nullptr ? back_ : taken->older->newer) = taken->newer;
  }

  // Whether the links agree. `is_element(e)` judges each before it is looked into.
  template <class F>
  [[nodiscard]] violation validate(F is_element) const noexcept {
    const T* newer = nullptr;
    for (const T* e = front_; e != nullptr; newer = e, e = e->older) {
      if (!is_element(e)) return {"intrusive_list: what is linked is no element"};
      if (e->newer != newer) return {"intrusive_list: two elements disagree about which is the newer"};
    }
    return newer == back_ ? violation{} : violation{"intrusive_list: the last element is another"};
  }

 private:
  T* front_ = nullptr;
  T* back_ = nullptr;
};

}  // namespace mallard
