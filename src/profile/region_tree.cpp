#include "profile/region_tree.hpp"

#include "journal/events/event_source.hpp"

namespace mallard::profile {

std::uint32_t region_tree::find(std::uint64_t id) {
  const auto* const found = places_.find(id);
  return found == nullptr ? none : found->value;
}

std::uint32_t region_tree::begin(std::uint64_t id, std::uint32_t parent) {
  if (last_number_ == UINT32_MAX) throw journal::error("it has more than 2^32 regions");
  std::uint32_t place = 0;
  if (free_places_.empty()) {
    place = static_cast<std::uint32_t>(regions_.size());
    regions_.emplace_back();
  } else {
    place = free_places_.back();
    free_places_.pop_back();
  }
  regions_[place] = {.id = id, .number = ++last_number_};
  places_.insert(id, place);
  link(place, parent);
  return place;
}

bool region_tree::move(std::uint32_t place, std::uint32_t parent) {
  if (is_inside(parent, place)) return false;
  unlink(place);
  link(place, parent);
  return true;
}

// Whether `place` is `outer`, or lies in it, however deep.
bool region_tree::is_inside(std::uint32_t place, std::uint32_t outer) const {
  if (regions_[outer].first_inner == none) return place == outer;
  while (place != none && place != outer) place = regions_[place].parent;
  return place == outer;
}

void region_tree::link(std::uint32_t place, std::uint32_t parent) {
  if (parent == none) return;
  region& moved = regions_[place];
  region& outer = regions_[parent];
  moved.parent = parent;
  moved.behind = outer.first_inner;
  if (moved.behind != none) regions_[moved.behind].before = place;
  outer.first_inner = place;
}

void region_tree::unlink(std::uint32_t place) {
  region& gone = regions_[place];
  if (gone.parent == none) return;
  (gone.before == none ? regions_[gone.parent].first_inner : regions_[gone.before].behind) = gone.behind;
  if (gone.behind != none) regions_[gone.behind].before = gone.before;
  gone.parent = gone.before = gone.behind = none;
}

std::uint32_t region_tree::find_block(std::uint32_t place, std::uint64_t address) {
  const auto* const found = slots_.find({address, regions_[place].number});
  return found == nullptr ? none : found->value;
}

void region_tree::add_block(std::uint32_t place, std::uint64_t address, std::uint32_t slot) {
  region& of = regions_[place];
  slots_.insert({address, of.number}, slot);
  if (slot >= blocks_.size()) blocks_.resize(std::size_t{slot} + 1);
  blocks_[slot] = {.address = address, .older = of.youngest};
  if (of.youngest != none) blocks_[of.youngest].younger = slot;
  of.youngest = slot;
}

void region_tree::remove_block(std::uint32_t place, std::uint32_t slot) {
  region& of = regions_[place];
  const block& gone = blocks_[slot];
  slots_.erase(slots_.find({gone.address, of.number}));
  (gone.younger == none ? of.youngest : blocks_[gone.younger].older) = gone.older;
  if (gone.older != none) blocks_[gone.older].younger = gone.younger;
}

auto region_tree::clear(std::uint32_t place) -> const contents& {
  taken_.slots.clear();
  taken_.numbers.clear();
  take_blocks(place);
  inwards_.assign(1, place);
  while (!inwards_.empty()) {
    const std::uint32_t outer = inwards_.back();
    inwards_.pop_back();
    while (regions_[outer].first_inner != none) {
      const std::uint32_t inner = regions_[outer].first_inner;
      unlink(inner);
      taken_.numbers.push_back(regions_[inner].number);
      take_blocks(inner);
      inwards_.push_back(inner);
    }
    if (outer != place) end(outer);
  }
  return taken_;
}

void region_tree::take_blocks(std::uint32_t place) {
  region& of = regions_[place];
  for (std::uint32_t slot = of.youngest; slot != none; slot = blocks_[slot].older) {
    slots_.erase(slots_.find({blocks_[slot].address, of.number}));
    taken_.slots.push_back(slot);
  }
  of.youngest = none;
}

void region_tree::end(std::uint32_t place) {
  unlink(place);
  places_.erase(places_.find(regions_[place].id));
  free_places_.push_back(place);
}

}  // namespace mallard::profile
