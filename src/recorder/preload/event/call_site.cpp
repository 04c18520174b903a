#include "recorder/preload/event/call_site.hpp"

namespace mallard::recorder {

MALLARD_NOINLINE std::uint32_t context_in_scopes(const call_site& site) noexcept {
  open_scopes& scopes = self.scopes;
  context_tree& contexts = self.caches->contexts;
  scopes.open_at(site.start().sp);
  if (state.stacks == stack_mode::full)
    return self.caches->stacks.context_in(scopes, contexts, site.start(), stack_around(site.start()));
  spool_header* spool = current_spool();
  if (spool == nullptr) return 0;
  std::uint32_t context = 0;
  for (std::uint32_t i = 0; i < scopes.count; ++i)
    context = contexts.scope(spool, context, scopes.chain[i].place);
  return state.stacks == stack_mode::none ? context : contexts.child(spool, context, site.return_address, 0);
}

}  // namespace mallard::recorder
