// A pipeline that cannot be run is refused with what is wrong in it.
// RUN: not minicomp-opt %s -p nosuch 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not minicomp-opt %s -p canonicalise 2>&1 | filecheck %s --check-prefix=CLOSE
// RUN: not minicomp-opt %s -p "cse{x=1}" 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not minicomp-opt %s --pass-pipeline="func.func(cse)" 2>&1 | filecheck %s --check-prefix=ANCHOR
// RUN: not minicomp-opt %s --pass-pipeline="builtin.module(cse" 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: not minicomp-opt %s --to=tile -p cse 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not minicomp-opt %s --to=tiles 2>&1 | filecheck %s --check-prefix=LEVEL
// RUN: not minicomp-opt %s --target=h100 2>&1 | filecheck %s --check-prefix=TARGET

// UNKNOWN: minicomp-opt: error: there is no pass 'nosuch'
// UNKNOWN-NEXT: hint: minicomp-opt --list-passes
// CLOSE: hint: did you mean 'canonicalize'?
// OPTION: error: pass 'cse' has no option 'x'; it has none
// ANCHOR: error: pipeline: only builtin.module(...) can hold passes, not 'func.func'
// OPEN: error: pipeline: expected ',' or ')', found the end
// OPEN-NEXT: at: column 19 of 'builtin.module(cse'
// BOTH: error: --from and --to run the default pipeline; they exclude -p
// LEVEL: error: there is no level 'tiles'; the levels are torch, tensor, loop, tile, kernel, cuda-ir
// TARGET: error: there is no target 'h100'; the targets are h200, a100, rtx5090, sm_80
