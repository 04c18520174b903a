// intrusive_list<T>: a doubly linked list through the elements' own members.
//
//     front --> [T: newer, older] <--> [T] <--> [T] <-- back
//
// Two pointers, so a heap with many lists is cheap to create and destroy. An element is in one list at a
// time, and the caller knows which. Cost: O(1); validation is O(elements). Not synchronised.
#pragma once

#include <cstddef>

#include "mallard/core/usage.hpp"

namespace mallard {

// T: has members `newer` and `older`, pointers to T, which belong to the list while the element is in it.
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

  // Removes an element of this list.
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
