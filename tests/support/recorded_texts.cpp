// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/recorded_texts.hpp>

#include <cctype>

#include <rafter/base/hash.hpp>
#include <rafter/emit/recorder.hpp>

namespace rafter::test {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Words of languages that end with a number which says how wide something is. A generated name may have one of these
/// stems and then keeps its number.
bool is_word_of_languages(std::string_view stem) {
  static const std::set<std::string_view> words{
      "double",         "float",         "int",         "uint",         "long",      "ulong",    "char",   "uchar",
      "vload",          "vstore",        "log",         "exp",          "as_double", "as_float", "as_int", "as_long",
      "convert_double", "convert_float", "convert_int", "convert_long", "real"};
  return words.contains(stem);
}

/// Returns the end of the number that begins at a place, with its exponent.
std::size_t end_of_number(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() &&
         (is_of_name(text[end]) || text[end] == '.' ||
          ((text[end] == '-' || text[end] == '+') && (text[end - 1] == 'e' || text[end - 1] == 'p'))))
    ++end;
  return end;
}

} // namespace

std::string canonical(std::string_view text) {
  std::map<std::string_view, std::map<std::string_view, std::size_t>> numbers; // new numbers by stem and old number
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_of_name(text[i])) {
      result += text[i++];
      continue;
    }
    std::size_t end = i;
    if (is_digit(text[i]))
      end = end_of_number(text, i);
    else
      while (end < text.size() && is_of_name(text[end])) ++end;
    std::size_t stem = end;
    while (!is_digit(text[i]) && is_digit(text[stem - 1])) --stem;
    if (is_word_of_languages(text.substr(i, stem - i))) stem = end;
    result += text.substr(i, stem - i);
    if (stem < end) {
      auto& of_stem = numbers[text.substr(i, stem - i)];
      result += std::to_string(of_stem.try_emplace(text.substr(stem, end - stem), of_stem.size()).first->second);
    }
    i = end;
  }
  return result;
}

/// All recordings that exist.
class Recordings {
public:
  static Recordings& instance() {
    static Recordings recordings;
    return recordings;
  }
  void add(Recording* recording) {
    const std::lock_guard lock(mutex_);
    all_.insert(recording);
    if (all_.size() == 1) emit::set_recorder([this](const emit::WrittenText& written) { take(written); });
  }
  void remove(Recording* recording) {
    const std::lock_guard lock(mutex_);
    all_.erase(recording);
    if (all_.empty()) emit::set_recorder(nullptr);
  }

private:
  void take(const emit::WrittenText& written) {
    const RecordedText hashes{std::string(written.kind), std::string(written.kernel), base::content_hash(written.text),
                              base::content_hash(canonical(written.text))};
    const std::lock_guard lock(mutex_);
    for (auto* recording : all_) {
      recording->hashes_.insert(hashes);
      if (recording->keeps_texts_) recording->texts_.emplace(hashes.raw, written.text);
    }
  }
  std::mutex mutex_;
  std::set<Recording*> all_;
};

Recording::Recording(bool keeps_texts) : keeps_texts_(keeps_texts) { Recordings::instance().add(this); }
Recording::~Recording() { Recordings::instance().remove(this); }

} // namespace rafter::test
