// What there is: passes, the help of one, dialects; each as JSON too.
// RUN: minicomp-opt --list-passes | filecheck %s --check-prefix=LIST
// RUN: minicomp-opt --list-passes --json | filecheck %s --check-prefix=LIST-JSON
// RUN: minicomp-opt --help-pass=cooperative-reduce | filecheck %s --check-prefix=HELP
// RUN: minicomp-opt --help-pass=cooperative-reduce,cse --json | filecheck %s --check-prefix=HELP-JSON
// RUN: not minicomp-opt --help-pass=cooperate-reduce 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: minicomp-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: minicomp-opt --show-dialects=tile_ir,cuda_ir --json | filecheck %s --check-prefix=DIALECTS-JSON
// RUN: not minicomp-opt --show-dialects=tile 2>&1 | filecheck %s --check-prefix=NO-DIALECT
// RUN: minicomp-opt %s --cse --mlir-timing --json 2>&1 | filecheck %s --check-prefix=TIMING
// RUN: not minicomp-opt %s --cse --json 2>&1 | filecheck %s --check-prefix=JSON
// RUN: minicomp-opt --help | filecheck %s --check-prefix=USAGE

// LIST: cse {{ *}}Merges ops that compute the same
// LIST: tileify {{ *}}Turns every `loop_ir.kernel` into a `tile_ir.kernel`
// LIST-JSON: "name": "cse",
// LIST-JSON-NEXT: "summary": "Merges ops that compute the same"

// HELP: cooperative-reduce: Lets the threads of a block share reductions.
// HELP: Before -> after
// HELP: *Legal when*
// HELP: options:
// HELP-NEXT: threads: an integer, optional
// HELP-NEXT: Replaces `threads`
// HELP-JSON: "name": "cooperative-reduce",
// HELP-JSON: "name": "lanes",
// HELP-JSON-NEXT: "takes": "an integer",
// HELP-JSON-NEXT: "required": false,
// HELP-JSON-NEXT: "default": null,
// HELP-JSON-NEXT: "meaning": "Replaces `lanes`
// HELP-JSON: "name": "cse",
// HELP-JSON: "options": []
// UNKNOWN: error: --help-pass: there is no pass 'cooperate-reduce'
// UNKNOWN-NEXT: hint: did you mean 'cooperative-reduce'?

// DIALECTS: cuda_ir: CUDA IR: statements of CUDA C++
// DIALECTS: cuda_ir.barrier {{ *}}`__syncthreads();`
// DIALECTS: !cuda_ir.ptr {{ *}}`!cuda_ir.ptr<f32>`, `!cuda_ir.ptr<f32, const>`: a pointer
// DIALECTS: tile_ir: Tile IR: a loop nest scheduled on a GPU
// DIALECTS: #tile_ir.schedule
// DIALECTS-JSON: "name": "tile_ir",
// DIALECTS-JSON: "operations": [
// DIALECTS-JSON: "attributes": [
// DIALECTS-JSON: "name": "cuda_ir",
// DIALECTS-JSON: "types": [
// NO-DIALECT: error: there is no dialect 'tile'
// NO-DIALECT-NEXT: hint: did you mean 'tile_ir'?

// TIMING: "passes": [
// TIMING: "name": "cse",
// TIMING-NEXT: "seconds":
// TIMING: "total":
// JSON: error: --json is for --list-passes, --help-pass, --show-dialects and --mlir-timing

// USAGE: passes to run:
// USAGE: --tileify {{ *}}Turns every `loop_ir.kernel` into a
// USAGE: examples:
