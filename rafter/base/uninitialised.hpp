// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <new>
#include <utility>

#include <rafter/base/aligned.hpp>

namespace rafter::base {

/// An AlignedAllocator that leaves elements that a vector makes without a value as the memory has them, so that large
/// arrays are written once, by the threads that fill them.
template <class T> struct UninitialisedAllocator : AlignedAllocator<T> {
  UninitialisedAllocator() = default;
  template <class U> UninitialisedAllocator(const UninitialisedAllocator<U>&) {}
  template <class U> struct rebind { using other = UninitialisedAllocator<U>; };
  template <class U> void construct(U* place) noexcept { ::new (static_cast<void*>(place)) U; }
  template <class U, class... Arguments> void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

template <class T> using UninitialisedVector = std::vector<T, UninitialisedAllocator<T>>;

} // namespace rafter::base
