// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>
#include <utility>

namespace rafter::base {

/// Values that are made once and shared by all who hold them at the same time, known by their type and by a key that
/// says all that they are made of. Any thread may ask.
class SharedValues {
public:
  /// The value of the key; `make` returns a new one where nobody holds it.
  template <class T, class Make> std::shared_ptr<const T> get(const std::string& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    std::erase_if(values_, [](const auto& entry) { return entry.second.expired(); });
    auto& known = values_[{std::type_index(typeid(T)), key}];
    if (auto value = known.lock()) return std::static_pointer_cast<const T>(value);
    auto value = std::make_shared<const T>(make());
    known = value;
    return value;
  }

  /// Returns the number of values of a type that are held.
  template <class T> std::size_t count() const {
    const std::lock_guard lock(mutex_);
    std::size_t result = 0;
    for (const auto& entry : values_)
      result += entry.first.first == std::type_index(typeid(T)) && !entry.second.expired() ? 1 : 0;
    return result;
  }

private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::type_index, std::string>, std::weak_ptr<const void>> values_;
};

} // namespace rafter::base
