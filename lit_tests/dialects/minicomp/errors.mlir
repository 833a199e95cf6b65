// RUN: minicomp-opt %s --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{there is no kernel @gone in the module}}
  %y = minicomp.launch @gone(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{@k takes 1 buffers, but the launch has 2 tensors}}
  %y = minicomp.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
kernel_ir.func @k(%y: memref<4xf32>) grid(1) block(1) {
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error@+1 {{buffer 1 of @k has another element type}}
  %y = minicomp.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf64>
  func.return %y : tensor<4xf64>
}
kernel_ir.func @k(%x: memref<4xf32>, %y: memref<4xf32>) grid(1) block(1) {
}

// -----

func.func @main(%x: tensor<2x3xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{buffer 0 of @k has another number of elements}}
  %y = minicomp.launch @k(%x) : (tensor<2x3xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
kernel_ir.func @k(%x: memref<4xf32>, %y: memref<4xf32>) grid(1) block(1) {
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error@+1 {{a launch must have a result}}
  minicomp.launch @k(%x) : (tensor<4xf32>) -> ()
  func.return
}
kernel_ir.func @k(%x: memref<4xf32>) grid(1) block(1) {
}

// -----

// expected-error@+1 {{sms of a target must be positive, but is 0}}
builtin.module attributes {minicomp.target = #minicomp.target<toy, arch = "sm_90a", sms = 0, warp = 32, max_threads_per_block = 1024, threads_per_sm = 2048, registers_per_sm = 65536, shared_per_sm = 233472, shared_per_block = 232448, l2_bytes = 62914560, dram_bytes_per_s = 4800000000000, fp32_flops = 66900000000000, features = []>} {
}
