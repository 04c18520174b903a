// In the counter's place where nothing is to be counted, so that the environment is as long as with it: some
// programs allocate for what they find there.
extern const int counts_nothing;
const int counts_nothing = 1;
