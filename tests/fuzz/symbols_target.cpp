// What symbols_fuzz starts from: a small library with an inlined function, a static one and a lambda.
namespace {

inline int twice(int number) { return 2 * number; }

[[gnu::noinline]] int hidden(int number) { return number < 9 ? twice(number) : number - 1; }

}  // namespace

int visible(int number) {
  const auto added = [number](int other) { return hidden(other) + twice(number); };
  return added(number) + hidden(number);
}
