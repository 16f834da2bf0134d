// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/entry_list.hpp>

#include <array>
#include <type_traits>

namespace rafter::op {
namespace {

constexpr std::array<std::string_view, 15> entry_loops{
    "size_at(| x[e]): sum size = abs(x)",
    "size_at_float(| x[e]: float): sum size = abs(x)",
    "copy(| x, y): y = x",
    "copy_float(| x: float, y: float): y = x",
    "zero_at(| y[e]): y = 0",
    "zero_at_float(| y[e]: float): y = 0",
    "one_at(| y[e]): y = 1",
    "copy_at(| x[e], y[e]): y = x",
    "copy_at_float(| x[e]: float, y[e]: float): y = x",
    "sums_at(| x[e], y[e], sums): sums = x + y",
    "put_at(| values, y[e]): y = values",
    "take_at(| x[e], values): values = x",
    "differ_at(| values, x[e], y[e]): y = values - x; sum size = abs(y)",
    "square_at(| x[e]): sum square = x*x",
    "scaled_square_at(a | x[e]): let y = a*x; sum square = y*y"};

/// The name of a loop on vectors of this type.
template <class T> std::string name(const char* loop) {
  return std::is_same_v<T, double> ? loop : std::string(loop) + "_float";
}

} // namespace

EntryList::EntryList(std::shared_ptr<device::Device> device, const std::vector<std::int32_t>& entries)
    : device_(std::move(device)), entries_(device_, base::AlignedVector<std::int32_t>(entries.begin(), entries.end())) {
  (void)std::as_const(entries_).device_read(); // now, because threads that share them must only read
}

FreeList<VectorRunner>::Loan EntryList::runner() const {
  return runners_.take([this] { return VectorRunner(device_, entry_loops); });
}

FreeList<VectorRunner>::Loan EntryList::whole_runner() const {
  return whole_runners_.take([this] { return VectorRunner(device_, entry_loops); });
}

template <class T> bool EntryList::are_zero(const device::Array<T>& x) const {
  return is_empty() || runner()->run(name<T>("size_at"), {}, {x, entries_}).front() == 0;
}

template <class T> void EntryList::copy_without(const device::Array<T>& x, device::Array<T>& y) const {
  whole_runner()->run(name<T>("copy"), {}, {x, y});
  if (!is_empty()) runner()->run(name<T>("zero_at"), {}, {y, entries_});
}

template <class T> void EntryList::copy_at(const device::Array<T>& x, device::Array<T>& y) const {
  if (!is_empty()) runner()->run(name<T>("copy_at"), {}, {x, y, entries_});
}

void EntryList::clear_at(Vector& y) const {
  if (!is_empty()) runner()->run("zero_at", {}, {y, entries_});
}

void EntryList::set_one_at(Vector& y) const {
  if (!is_empty()) runner()->run("one_at", {}, {y, entries_});
}

EntryList::Values EntryList::sums_at(const Vector& x, const Vector& y) const {
  auto sums = values_.take([this] { return Vector(device_, entries_.size()); });
  if (!is_empty()) runner()->run("sums_at", {}, {x, y, *sums, entries_});
  return sums;
}

void EntryList::put_at(const Vector& values, Vector& y) const {
  if (!is_empty()) runner()->run("put_at", {}, {values, y, entries_});
}

void EntryList::take_at(const Vector& x, Vector& values) const {
  if (!is_empty()) runner()->run("take_at", {}, {x, values, entries_});
}

bool EntryList::put_differences_at(const Vector& values, const Vector& x, Vector& y) const {
  return !is_empty() && runner()->run("differ_at", {}, {values, x, y, entries_}).front() != 0;
}

double EntryList::square_at(const Vector& x, double factor) const {
  if (is_empty()) return 0;
  return factor == 1 ? runner()->run("square_at", {}, {x, entries_}).front()
                     : runner()->run("scaled_square_at", {factor}, {x, entries_}).front();
}

double EntryList::norm_at(const Vector& x) const {
  return scaled_root([&](double factor) { return square_at(x, factor); });
}

template bool EntryList::are_zero(const Vector&) const;
template bool EntryList::are_zero(const SingleVector&) const;
template void EntryList::copy_without(const Vector&, Vector&) const;
template void EntryList::copy_without(const SingleVector&, SingleVector&) const;
template void EntryList::copy_at(const Vector&, Vector&) const;
template void EntryList::copy_at(const SingleVector&, SingleVector&) const;

} // namespace rafter::op
