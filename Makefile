# Names for fingers that type make; ./dev does the work.
chores := demo test lint format bench fuzz lock clean help

.PHONY: $(chores)
$(chores):
	@./dev $@
