// What a C++ program would take: std::unordered_map, and a sorted array with binary search.
#include "lookup.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

struct Role {
    const char *text = "";
    std::size_t text_bytes = 0;
};

std::string_view view(const lookup_name *name) { return {name->text, name->bytes}; }

// Found by a view, so that a lookup makes no string.
struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
};
using Map = std::unordered_map<std::string, Role, Hash, std::equal_to<>>;

void *create_map(uint32_t capacity) {
    auto *const map = new Map;
    map->reserve(capacity);
    return map;
}

void add_to_map(void *index, const lookup_name *name) {
    static_cast<Map *>(index)->emplace(std::string(view(name)), Role());
}

void remove_from_map(void *index, const lookup_name *name) {
    auto *const map = static_cast<Map *>(index);
    map->erase(map->find(view(name)));
}

const char *find_in_map(const void *index, const lookup_name *name) {
    const auto *const map = static_cast<const Map *>(index);
    const auto found = map->find(view(name));
    return found == map->end() ? nullptr : found->first.data();
}

using Entry = std::pair<std::string, Role>;
using Array = std::vector<Entry>;

void *create_array(uint32_t capacity) {
    auto *const array = new Array;
    array->reserve(capacity);
    return array;
}

void add_to_array(void *index, const lookup_name *name) {
    static_cast<Array *>(index)->emplace_back(std::string(view(name)), Role());
}

void sort_array(void *index) {
    auto *const array = static_cast<Array *>(index);
    std::sort(array->begin(), array->end(),
              [](const Entry &left, const Entry &right) { return left.first < right.first; });
}

const char *find_in_array(const void *index, const lookup_name *name) {
    const auto *const array = static_cast<const Array *>(index);
    const auto found = std::lower_bound(
        array->begin(), array->end(), view(name),
        [](const Entry &entry, std::string_view asked) { return entry.first < asked; });
    return found == array->end() || found->first != view(name) ? nullptr : found->first.data();
}

} // namespace

extern "C" const lookup_index lookup_unordered_map = {create_map, add_to_map, nullptr, remove_from_map,
                                                      find_in_map};
extern "C" const lookup_index lookup_sorted_array = {create_array, add_to_array, sort_array, nullptr,
                                                     find_in_array};
