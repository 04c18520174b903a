# The steps of `./dev test`, read by ./dev, whose set-up and helpers they use.
# shellcheck shell=sh disable=SC2046,SC2086,SC2154  # lists are split on purpose; helpers and lists of packages are of ./dev
#
# Each step adds to the final count. A check of a build tree runs when its program was built anew since it passed, any
# other step when a file it reads or a compiler has changed since: what passed before still counts, and is reported as
# such.

step=

# alone FUNCTION...: with the lock of this folder's build trees, which no program has that is started meanwhile.
alone() {
  mkdir -p build
  { flock --nonblock 9 || die "another ./dev test runs in this folder"
    "$@" 9>&-; } 9>build/lock
}

# begin TITLE: ends the step before, for the breakdown at the end.
begin() {
  end_step
  step=$1 step_began=$(date +%s)
  say "$1"
}
end_step() {
  [ -z "$step" ] || breakdown="$breakdown$(printf '%5s s  %s' $(($(date +%s) - step_began)) "$step")
"
  step=
}
breakdown=

# count NAME PASSED FAILED: adds to the final count.
count() {
  printf '%-7s %s: %s passed, %s failed\n' "$([ "$3" = 0 ] && echo ok || echo FAILED)" "$1" "$2" "$3"
  passed=$((passed + $2)) failed=$((failed + $3))
  [ "$3" = 0 ] || recalled="$recalled$1: $3 failed
"
}

# recall LOG: the names of what failed there and what was said of it, or else how it ends, come again at the end.
recall() {
  recalled="$recalled$(awk 'function is_new(line) { return !seen[line]++ }
    { last[NR % 8] = $0 }
    /^(\[  )?FAILED:? [^(]|^FAIL: |^(ERROR|SURVIVED|TIMEOUT) / {
      if (is_new($0) && names++ < 30) named = named substr($0, 1, 200) "\n"
      next
    }
    /: Failure$/ { following = 5 }
    /^E  |error: |ERROR: |Sanitizer: |Error(:|$)|Segmentation fault|^exit code 1[2-9][0-9]/ { following = following ? following : 1 }
    following > 0 { following -= 1; if (is_new($0) && details++ < 30) detailed = detailed substr($0, 1, 300) "\n" }
    END {
      if (!names && !details) for (i = NR > 8 ? NR - 7 : 1; i <= NR; i += 1) detailed = detailed last[i % 8] "\n"
      printf "-- %s\n%s%s.", FILENAME, named, detailed
    }' "$1")"
  recalled="${recalled%.}"
}

# check NAME COMMAND...: one test of the final count.
check() {
  if quietly "$@"; then count "$1" 1 0; else count "$1" 0 1; fi
}

# suite NAME COMMAND...: a test runner; its last line has the count, as "N passed" and "N failed".
suite() {
  failures=0 && quietly "$@" || failures=1
  succeeded=$(last_number passed) broken=$(($(last_number failed) + $(last_number error)))
  [ "$broken" -ge "$failures" ] || broken=$failures
  [ "$succeeded $broken" != "0 0" ] || broken=1
  count "$1" "$succeeded" "$broken"
}

# The number before a word in the last line of the log, 0 if it is not there.
last_number() { n=$(tail -n 1 "$log" | grep -o "[0-9]* $1") && echo "${n% *}" || echo 0; }

# once NAME FUNCTION PATH...: runs a step, unless no file there and no compiler has changed since it passed.
once() {
  name=$1 function=$2 && shift 2
  fingerprint=$({
    echo "$options"
    clang++-19 --version
    g++-12 --version
    git ls-files -z --cached --others --exclude-standard -- "$@" | xargs -0 sha256sum
  } 2>/dev/null | sha256sum)
  if [ "$(sed 1q "build/passed/$name" 2>/dev/null)" = "$fingerprint" ]; then
    count "$name, unchanged since it passed" "$(sed -n 2p "build/passed/$name")" 0
    return
  fi
  passed_before=$passed failed_before=$failed
  "$function"
  rm -f "build/passed/$name"
  [ "$failed" != "$failed_before" ] ||
    { mkdir -p build/passed && printf '%s\n%s\n' "$fingerprint" $((passed - passed_before)) >"build/passed/$name"; }
}

# What failed is printed again here, because logs of CI may be truncated to their last lines.
conclude() {
  end_step
  [ "$failed" = 0 ] || printf '\n== failed:\n%s' "$recalled"
  printf '\n%s\n%s passed, %s failed\n' "$breakdown" "$passed" "$failed" && [ "$failed" = 0 ]
}

# --- build trees ----------------------------------------------------------------------------------

# tree PRESET [CMAKE-ARGUMENT...]: builds all tests and examples, and runs those that were built anew.
tree() {
  preset=$1
  if quietly "configure-$preset" cmake --preset "$@" $no_lines && quietly "clean-$preset" ninja -C "build/$preset" -t cleandead; then
    find "build/$preset/checks" -name '*.failed' -delete
    quietly "build-$preset" cmake --build "build/$preset" --target check -- -k 0 || built=no
    count "$preset" $(cases $(find "build/$preset/checks" -name '*.passed' -o -name '*.failed'))
    [ "${built:-}" != no ] || [ "$(find "build/$preset/checks" -name '*.failed')" ] || count "$preset does not build" 0 1
    built=
  else count "$preset cannot be configured" 0 1; fi
}

# cases REPORT...: how many cases passed and failed: GoogleTest's, or one a program.
cases() {
  awk 'function add() {
      if (file ~ /passed$/) passed += ran ? succeeded : 1
      else if (broken) { passed += succeeded; failed += broken }
      else { passed += so_far; failed += 1 }
      ran = succeeded = broken = so_far = 0
    }
    FNR == 1 { if (file != "") add(); file = FILENAME }
    /^\[==========\] [0-9]+ tests? from .* ran/ { ran = 1 }
    /^\[       OK \] / { so_far += 1 }
    /^\[  PASSED  \] / { succeeded = $4 }
    /^\[  FAILED  \] [0-9]+ tests?, listed/ { broken = $4 }
    END { if (file != "") add(); print passed + 0, failed + 0 }' "$@"
}

# --- Python ---------------------------------------------------------------------------------------

# test_python [TEST...]: the package out of a build tree; what a user would notice of it, or these tests.
test_python() {
  [ $# -gt 0 ] || set -- -m "not slow"
  if quietly configure-python cmake --preset dev $no_lines -D MALLARD_PYTHON=ON -D nanobind_DIR="$(.venv/bin/python -m nanobind --cmake_dir)" &&
    python_from_tree build/dev && rm -f "build/dev/environment/bin/$without"; then
    suite pytest build/dev/environment/bin/python -m pytest --numprocesses "$(nproc)" --dist loadfile "$@"
  else count "the Python package does not build" 0 1; fi
}

without=none

# Its two halves. What has nothing to do with heaps does not run again when one has changed, and runs where
# mallard-replay is missing: a test that needs a heap and does not say so fails.
test_python_tools() {
  without=mallard-replay
  test_python -m "not slow and not heaps"
  without=none
}
test_python_heaps() { test_python -m "not slow and heaps"; }

# The packages as they are installed, and all of their tests; those that measure have the machine for themselves. The
# pages' tests are few files and half of the time, so a process takes over what another has not begun.
test_wheels() {
  if python_package; then
    measuring="tests/bench/recorder tests/bench/profile"
    suite pytest .venv/bin/pytest --numprocesses "$(nproc)" --dist worksteal $(printf -- '--ignore %s ' $measuring)
    suite pytest-measuring .venv/bin/pytest $measuring
  else count "the wheel does not build" 0 1; fi
  if bench_package; then suite pytest-papers .venv/bin/pytest --numprocesses "$(nproc)" --dist worksteal bench/papers
  else count "the wheel of the papers' benchmarks does not build" 0 1; fi
}

# --- rules, form, mutations -----------------------------------------------------------------------

# checks NAME: runs the checks that its input has, "NAME COMMAND..." a line, as many at once as there are processors.
# The input is no pipe: a shell runs the end of one in a process of its own, whose counts are lost.
checks() {
  rm -rf "build/checks/$1" && mkdir -p "build/checks/$1"
  sed "s,^,build/checks/$1/," | xargs -P "$(nproc)" -L 1 cmake/check.sh || true
  count "$1" $(cases "build/checks/$1"/*.*ed)
  for report in "build/checks/$1"/*.failed; do [ ! -e "$report" ] || recall "$report"; done
}

# The rules of the tree, and mistakes that must not compile.
test_structure() {
  mkdir -p build/checks
  {
    for compiler in $compilers; do
      echo "header_alone-$compiler python3 tests/structure/header_alone.py --compiler $compiler --passed build/passed/header_alone-$compiler"
      echo "page_snippets-$compiler python3 tests/structure/page_snippets.py --compiler $compiler"
      for rule in check check_controls; do
        echo "must_not_compile-$rule-$compiler python3 tests/must_not_compile/$rule.py --compiler $compiler"
      done
    done
    for rule in include_order name_once page_links tests_complete; do
      echo "$rule python3 tests/structure/$rule.py"
    done
  } >build/checks/structure.list
  checks structure <build/checks/structure.list
}

# The controls that break each of these rules and each of these steps, in trees of their own.
test_structure_controls() {
  mkdir -p build/checks
  {
    for compiler in $compilers; do
      echo "structure_controls-$compiler python3 tests/structure/structure_controls.py --compiler $compiler"
    done
    echo "step_controls python3 tests/structure/step_controls.py"
  } >build/checks/structure-controls.list
  checks structure-controls <build/checks/structure-controls.list
}

# Files of ours; without a list from git there would be nothing to check, and the check would pass.
sources() {
  files=$(git ls-files --cached --others --exclude-standard -- "$@") && [ "$files" ] ||
    die "git does not list the sources: this must be a checkout, and yours (git status tells)"
}

test_form() {
  sources '*.cpp' '*.hpp' '*.c' '*.h'
  checks form <<END
mypy .venv/bin/mypy
clang-format .venv/bin/clang-format --dry-run --Werror $(echo "$files" | tr '\n' ' ' | sed 's/ $//')
ruff .venv/bin/ruff check
ruff-format .venv/bin/ruff format --check
shellcheck .venv/bin/shellcheck dev .ci/run cmake/check.sh tests/steps.sh
END
}

test_mutations() {
  suite mutations python3 tests/mutation/run.py --compiler clang++-19 $mutations
}

test_mutations_controls() {
  check mutations-controls python3 tests/mutation/mutation_controls.py --compiler clang++-19
}

# --- what ./dev test runs -------------------------------------------------------------------------

# Folders of tests/, and examples. Without sanitizers: `both` are built by clang, and in --all by gcc as well; `clang` by
# clang alone; `plain` by default. `sanitized` are built with sanitizers by default.
both="core;source;debug;layer;thread;heap;resource;allocator;capi;recorder;unwind;malloc;replay;symbols;examples"
clang="journal;profile;harness"
plain="$both;$clang;containers"
sanitized="model;capi"
short="-D MALLARD_SLOW_TESTS=OFF -D MALLARD_SHORT_TRACES=ON"
no_lines="-D MALLARD_LINES=OFF"  # a quarter of compiling; sanitizers name functions without them

# What the Python packages are made of, and their tests.
package="CMakeLists.txt CMakePresets.json bench cmake dev docs examples include pyproject.toml python requirements.txt
  src tests/bench tests/fixtures tests/install tests/python"
but_heaps=":!examples :!include/mallard/allocator :!include/mallard/debug :!include/mallard/heap :!include/mallard/layer
  :!include/mallard/resource :!include/mallard/source :!include/mallard/thread :!src/capi :!src/harness/allocator
  :!src/replay"

test_default() {
  compilers=clang++-19 mutations="--changed --sample 10"
  begin "library and tools"
  tree dev $short -D MALLARD_ROOMS="$plain"
  begin "every heap in the model suite, sanitized"
  tree asan $short -D MALLARD_TOOLS=OFF -D MALLARD_ROOMS="$sanitized"
  wait "$tools" || count "Python tools, Chromium or speedscope" 0 1
  begin "Python package"
  once python test_python_tools $package $but_heaps
  begin "Python package and installation, over the heaps"
  once python-heaps test_python_heaps $package
  test_the_rest
}

# All there is, by both compilers, by either of which users compile the library. Clang's tree without sanitizers is that
# of the default, so that what passed there counts here, and has the model suite. Slow tests are for the other trees.
test_all() {
  compilers="clang++-19 g++-12" mutations=
  second_boost || count "a second Boost" 0 1
  begin "library and tools, by clang"
  tree dev $short -D MALLARD_ROOMS="$plain;model;bench"
  begin "library, recorder and replay, by gcc"
  tree gcc-dev -D MALLARD_SLOW_TESTS=ON -D MALLARD_ROOMS="$both;containers" -D MALLARD_BOOST_PREFIX="$second_boost"
  begin "everything, sanitized, by clang"
  tree asan -D MALLARD_SLOW_TESTS=ON -D MALLARD_SHORT_TRACES=OFF -D MALLARD_TOOLS=ON -D MALLARD_BENCH=ON -D MALLARD_ROOMS=
  begin "every heap in the model suite, sanitized, by gcc"
  tree gcc-asan -D MALLARD_SLOW_TESTS=ON -D MALLARD_SHORT_TRACES=ON -D MALLARD_TOOLS=OFF -D MALLARD_ROOMS="$sanitized;examples"
  begin "threads, under ThreadSanitizer"
  tree tsan -D MALLARD_SLOW_TESTS=ON -D MALLARD_TOOLS=OFF -D MALLARD_BENCH=ON
  wait "$tools" || count "Python tools, Chromium or speedscope" 0 1
  begin "Python packages and installation"
  once wheels test_wheels $package
  test_the_rest
  begin "instructions"
  check instructions env PYTHONPATH=bench/shared:bench/route .venv/bin/python bench/instructions/instructions.py --check
}

test_the_rest() {
  begin "mutations"
  once mutations test_mutations include src/capi tests/capi tests/core tests/heap tests/layer tests/model tests/mutation \
    tests/source tests/thread tests/*.hpp
  # The controls break a layer, whose tests include nothing that lies in the folder of heaps itself.
  once mutations-controls test_mutations_controls include ":(exclude,glob)include/mallard/heap/*.hpp" tests/core \
    tests/layer tests/model tests/mutation tests/*.hpp
  begin "rules of the tree"
  once structure test_structure .
  once structure-controls test_structure_controls cmake/check.sh dev tests/steps.sh tests/structure
  begin "form"
  once form test_form .
}

# check_of TEST: among $checks, the test's own program, or that of the nearest folder above it that has one.
check_of() {
  printf '%s\n' "$checks" | grep -x "$(basename "$1" _test.cpp)" && return
  above=$(dirname "${1#tests/}")
  until [ "$above" = . ] || printf '%s\n' "$checks" | grep -x "$(echo "$above" | tr / .)"; do above=$(dirname "$above"); done
}

# test_named NAME: what bears that name: a step, a folder of tests/, the test of a thing with the rest of its folder's
# program, a test in Python, mutations.
test_named() {
  compilers=clang++-19 mutations="--changed --sample 16"
  case $1 in
    form | python) wait "$tools" && begin "$1" && "test_$1" && return ;;
    structure | mutations) wait "$tools" && begin "$1" && "test_$1" && "test_$1_controls" && return ;;
  esac
  found=
  listed="git ls-files --cached --others --exclude-standard --"
  tests=$($listed "tests/$1/*_test.cpp" "tests/**/$1_test.cpp" "tests/**/$1_model_test.cpp")
  for preset in dev asan; do
    [ "$tests" ] || break
    rooms=$plain && [ $preset = dev ] || rooms=$sanitized
    quietly "configure-$preset" cmake --preset $preset -D MALLARD_SLOW_TESTS=ON -D MALLARD_SHORT_TRACES=OFF $no_lines \
      -D MALLARD_ROOMS="$rooms" || return
    checks=$(ninja -C build/$preset -t targets all | sed -n 's/^check\.\(.*\): phony$/\1/p')
    for check in $(for test in $tests; do check_of "$test"; done | sort -u); do
      begin "$check ($preset)" && found=yes
      quietly "build-$preset" cmake --build build/$preset --target "check.$check" || count "$check" 0 1
      report=build/$preset/checks/$(echo "$check" | tr . /).passed
      [ ! -e "$report" ] || count "$check" $(cases "$report")
    done
  done
  tests=$($listed "tests/**/test_$1.py" "bench/**/test_$1.py")
  if [ "$tests" ]; then
    begin "Python: $1" && found=yes
    wait "$tools" && test_python $tests
  fi
  if [ -e "tests/mutation/$1.mutations" ]; then
    begin "mutations of $1" && found=yes
    suite mutations python3 tests/mutation/run.py --compiler clang++-19 "$1"
  fi
  [ "$found" ] || die "no test is called $1: name a folder of tests/, a file there without _test, or form, structure, python, mutations"
}
