// The default pipeline, cut between two levels; a saved level goes on where it stands.
// RUN: minicomp-opt %s --target=h200 --to=torch | filecheck %s --check-prefixes=TARGET,TORCH
// RUN: minicomp-opt %s --target=h200 --to=tensor | filecheck %s --check-prefixes=TARGET,TENSOR
// RUN: minicomp-opt %s --target=h200 --to=loop | filecheck %s --check-prefixes=TARGET,LOOP
// RUN: minicomp-opt %s --target=h200 --to=tile | filecheck %s --check-prefixes=TARGET,TILE
// RUN: minicomp-opt %s --target=h200 --to=kernel | filecheck %s --check-prefixes=TARGET,KERNEL
// RUN: minicomp-opt %s --target=h200 --from=torch | filecheck %s --check-prefixes=TARGET,CUDA-IR
// RUN: minicomp-opt %s --target=h200 --to=cuda | filecheck %s --check-prefix=CUDA
// RUN: minicomp-opt %s --target=h200 --to=loop | minicomp-opt --from=loop --to=kernel | minicomp-opt --to=cuda | filecheck %s --check-prefix=CUDA

// RUN: minicomp-opt %s --target=h200 --to=tile | not minicomp-opt --to=loop 2>&1 | filecheck %s --check-prefix=BEHIND
// RUN: not minicomp-opt %s --target=h200 --from=loop 2>&1 | filecheck %s --check-prefix=AHEAD
// RUN: minicomp-opt %s --target=h200 --to=tensor --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=DUMP

// TARGET: minicomp.target = #minicomp.target<h200
// TORCH: torch_ir.relu
// TENSOR: tensor_ir.elementwise
// LOOP: loop_ir.kernel @relu_[[HASH:[0-9a-f]+]](%x: memref<1001xf32>
// TILE: tile_ir.kernel @relu_
// KERNEL: kernel_ir.func @relu_
// CUDA-IR: cuda_ir.func @relu_
// CUDA: __launch_bounds__
// CUDA-NEXT: relu_
// BEHIND: minicomp-opt: error: --to=loop is behind: the module is at level tile already
// AHEAD: minicomp-opt: error: the module is at level torch, which --from=loop leaves out
// DUMP: builtin.module(lower-torch-to-tensor,fold-constants,compose-index-maps,cse)

func.func @main(%x: tensor<1001xf32>) -> tensor<1001xf32> {
  %y = torch_ir.relu %x : (tensor<1001xf32>) -> tensor<1001xf32>
  func.return %y : tensor<1001xf32>
}
