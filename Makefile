# Names for fingers that type make; ./dev does the work.
chores := demo test lint format bench cost scale fuzz soak single-header lock clean help

.PHONY: $(chores)
$(chores):
	@./dev $@
