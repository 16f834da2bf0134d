// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <vector>

namespace rafter::mesh {

/// The tags of the cells of a group. Only one is kept if all are equal, as in most large meshes.
class CellTags {
public:
  class Iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::int32_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::int32_t*;
    using reference = std::int32_t;
    Iterator() = default;
    Iterator(const CellTags& tags, std::size_t cell) : tags_(&tags), cell_(cell) {}
    std::int32_t operator*() const { return (*tags_)[cell_]; }
    Iterator& operator++() {
      ++cell_;
      return *this;
    }
    Iterator operator++(int) { return {*tags_, cell_++}; }
    bool operator==(const Iterator& other) const { return cell_ == other.cell_; }

  private:
    const CellTags* tags_ = nullptr;
    std::size_t cell_ = 0;
  };
  using value_type = std::int32_t;
  using const_iterator = Iterator;
  using iterator = Iterator;

  CellTags() = default;
  CellTags(std::initializer_list<std::int32_t> tags) : CellTags(std::vector(tags)) {}
  CellTags(std::vector<std::int32_t> tags) : size_(tags.size()), first_(tags.empty() ? 0 : tags.front()) {
    if (std::ranges::any_of(tags, [this](std::int32_t tag) { return tag != first_; })) tags_ = std::move(tags);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int32_t operator[](std::size_t cell) const { return tags_.empty() ? first_ : tags_[cell]; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }
  bool are_equal() const { return tags_.empty(); } ///< all cells have the tag of the first one
  friend bool operator==(const CellTags& a, const CellTags& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  void assign(std::size_t count, std::int32_t tag) {
    *this = {};
    append(count, tag);
  }
  void append(std::size_t count, std::int32_t tag) {
    if (empty()) first_ = tag;
    if (tag != first_) separate();
    if (!tags_.empty()) tags_.insert(tags_.end(), count, tag);
    size_ += count;
  }
  void push_back(std::int32_t tag) { append(1, tag); }
  void set(std::size_t cell, std::int32_t tag) {
    if (tag == (*this)[cell]) return;
    separate();
    tags_[cell] = tag;
  }

private:
  /// Gives every cell a tag of its own.
  void separate() {
    if (tags_.empty()) tags_.assign(size_, first_);
  }
  std::size_t size_ = 0;
  std::int32_t first_ = 0;
  std::vector<std::int32_t> tags_; ///< shape (cell); empty: all are first_
};

} // namespace rafter::mesh
