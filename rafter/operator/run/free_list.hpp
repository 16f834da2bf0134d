// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mutex>
#include <utility>
#include <vector>

namespace rafter::op {

/// Keeps objects that threads take in turn and give back, such as what a run needs for itself while it lasts. As many
/// are made as were ever taken at the same time.
template <class T> class FreeList {
public:
  /// An object that belongs to one thread until the end of its scope.
  class Loan {
  public:
    Loan(FreeList& list, T value) : list_(&list), value_(std::move(value)) {}
    ~Loan() {
      if (list_ != nullptr) list_->give(std::move(value_));
    }
    Loan(Loan&& other) noexcept : list_(std::exchange(other.list_, nullptr)), value_(std::move(other.value_)) {}
    Loan& operator=(Loan&&) = delete;
    T& operator*() { return value_; }
    T* operator->() { return &value_; }

  private:
    FreeList* list_; ///< null when the loan was moved to another one
    T value_;
  };

  /// Lends an object. `make` returns a new one, which is asked for where all are taken.
  template <class Make> Loan take(const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        T value = std::move(free_.back());
        free_.pop_back();
        return Loan(*this, std::move(value));
      }
    }
    return Loan(*this, make());
  }

private:
  void give(T value) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(value));
  }
  std::mutex mutex_;
  std::vector<T> free_;
};

} // namespace rafter::op
