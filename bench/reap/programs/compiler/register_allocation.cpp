#include "programs/compiler/register_allocation.hpp"

#include <algorithm>

#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

namespace {

bool is_jump(const instruction& i) {
  return i.kind == code_kind::jump || i.kind == code_kind::branch || i.kind == code_kind::branch_zero;
}

bool ends_part(const instruction& i) { return is_jump(i) || i.kind == code_kind::give_back; }

bool in(const std::uint64_t* set, std::uint32_t number) {
  return (set[number / 64] >> (number % 64) & 1) != 0;
}
void put(std::uint64_t* set, std::uint32_t number) { set[number / 64] |= std::uint64_t{1} << (number % 64); }

}  // namespace

liveness::liveness(region& around, const code& of)
    : here_(around),
      registers_(of.registers()),
      words_(of.registers() / 64 + 1),
      size_(of.size()),
      labels_(of.labels()),
      instructions_(make_array<const instruction*>(here_, of.size())),
      parts_of_labels_(make_array<std::uint32_t>(here_, of.labels() + 1)),
      parts_(make_array<part>(here_, of.size() + 1)),
      intervals_(make_array<interval*>(here_, of.registers() + 1)) {
  for (std::uint32_t i = 1; i <= registers_; ++i) {
    intervals_[i] = make<interval>(here_);
    intervals_[i]->number = i;
  }
  divide(of);
  for (std::uint32_t i = 0; i < part_count_; ++i) note_uses(parts_[i]);
  flow();
  measure();
}

liveness::~liveness() {
  if (!region::frees) return;
  for (std::uint32_t i = 0; i < part_count_; ++i)
    for (std::uint64_t* set : {parts_[i].used, parts_[i].set, parts_[i].wanted, parts_[i].wanted_after})
      drop_array(here_, set, words_);
  for (std::uint32_t i = 1; i <= registers_; ++i) drop(here_, intervals_[i]);
  drop_array(here_, intervals_, registers_ + 1);
  drop_array(here_, parts_, size_ + 1);
  drop_array(here_, parts_of_labels_, labels_ + 1);
  drop_array(here_, instructions_, size_);
}

void liveness::begin_part(std::uint32_t at) {
  part& p = parts_[part_count_++];
  p.begin = at;
  for (std::uint64_t** set : {&p.used, &p.set, &p.wanted, &p.wanted_after})
    *set = make_array<std::uint64_t>(here_, words_);
}

void liveness::divide(const code& of) {
  std::uint32_t at = 0;
  bool begins = true;
  for (const instruction* i = of.first(); i != nullptr; i = i->next, ++at) {
    instructions_[at] = i;
    if (begins || i->kind == code_kind::label) begin_part(at);
    part& p = parts_[part_count_ - 1];
    if (i->kind == code_kind::label) parts_of_labels_[i->label] = part_count_ - 1;
    begins = ends_part(*i);
    p.end = at + 1;
    if (is_jump(*i)) p.label = i->label;
    p.falls_through = i->kind != code_kind::jump && i->kind != code_kind::give_back;
  }
}

void liveness::note_uses(part& p) {
  for (std::uint32_t at = p.begin; at != p.end; ++at) {
    const instruction& i = *instructions_[at];
    for (const operand* o : {&i.a, &i.b})
      if (o->number != 0 && !in(p.set, o->number)) put(p.used, o->number);
    if (i.target != 0) put(p.set, i.target);
  }
}

void liveness::flow() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::uint32_t i = part_count_; i-- > 0;) changed |= flow_through(parts_[i]);
  }
}

// Whether more is wanted at its beginning than was known.
bool liveness::flow_through(part& p) {
  const bool last = &p == &parts_[part_count_ - 1];
  bool changed = false;
  for (std::uint32_t w = 0; w < words_; ++w) {
    std::uint64_t after = 0;
    if (p.falls_through && !last) after |= (&p + 1)->wanted[w];
    if (p.label != 0) after |= parts_[parts_of_labels_[p.label]].wanted[w];
    const std::uint64_t before = p.used[w] | (after & ~p.set[w]);
    changed |= before != p.wanted[w];
    p.wanted_after[w] = after;
    p.wanted[w] = before;
  }
  return changed;
}

void liveness::measure() {
  for (std::uint32_t i = 0; i < part_count_; ++i) {
    const part& p = parts_[i];
    for (std::uint32_t at = p.begin; at != p.end; ++at) {
      const instruction& step = *instructions_[at];
      for (const std::uint32_t number : {step.a.number, step.b.number, step.target})
        if (number != 0) of(number).reach(at);
    }
    for (std::uint32_t number = 1; number <= registers_; ++number) {
      if (in(p.wanted, number)) of(number).reach(p.begin);
      if (in(p.wanted_after, number)) of(number).reach(p.end);
    }
  }
}

namespace {

// The intervals that have a register at one place of the code, one a register.
class active_intervals {
 public:
  void end_before(std::uint32_t at) noexcept {
    for (interval*& i : of_)
      if (i != nullptr && i->end <= at) i = nullptr;
  }

  // False if all registers are taken.
  bool take(interval& i) noexcept {
    for (std::uint32_t r = 0; r < machine_registers; ++r) {
      if (of_[r] != nullptr) continue;
      of_[r] = &i;
      i.home = static_cast<std::int32_t>(r);
      return true;
    }
    return false;
  }

  [[nodiscard]] interval*& last_to_end() noexcept {
    return *std::max_element(of_, of_ + machine_registers,
                             [](const interval* a, const interval* b) { return a->end < b->end; });
  }

 private:
  interval* of_[machine_registers] = {};
};

}  // namespace

std::uint32_t assign_registers(region& around, liveness& all) {
  region here(around);
  const std::uint32_t room = all.registers();
  interval** const order = make_array<interval*>(here, room);
  std::uint32_t count = 0;
  for (std::uint32_t i = 1; i <= room; ++i)
    if (all.of(i).is_used()) order[count++] = &all.of(i);
  std::sort(order, order + count, [](const interval* a, const interval* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->number < b->number;
  });
  std::uint32_t slots = 0;
  active_intervals active;
  for (interval** i = order; i != order + count; ++i) {
    active.end_before((*i)->begin);
    if (active.take(**i)) continue;
    interval*& last = active.last_to_end();
    interval* spilled = *i;
    if (last->end > spilled->end) {
      spilled->home = last->home;
      std::swap(last, spilled);
    }
    spilled->home = -1 - static_cast<std::int32_t>(slots++);
  }
  drop_array(here, order, room);
  return slots;
}

}  // namespace mallard::programs
