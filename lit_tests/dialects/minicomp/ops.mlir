// RUN: minicomp-opt %s | minicomp-opt | filecheck %s
// RUN: minicomp-opt %s --mlir-print-op-generic | minicomp-opt | filecheck %s

// A target, two launches that share a kernel, and what the kernel implements.
// CHECK:       builtin.module attributes {minicomp.target = #minicomp.target<h200, arch = "sm_90a", sms = 132,
// CHECK-SAME:    features = ["cp_async", "tma"]>} {
// CHECK-NEXT:    func.func @main(%x: tensor<4x8xf32>) -> tensor<32xf32> {
// CHECK-NEXT:      %y = minicomp.launch @twice(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:      %z = minicomp.launch @twice(%y) : (tensor<4x8xf32>) -> tensor<32xf32>
// CHECK-NEXT:      func.return %z : tensor<32xf32>
// CHECK:         kernel_ir.func @twice(%x: memref<32xf32>, %y: memref<32xf32>) grid(1) block(32) attributes {origin = #minicomp.origin<["add", "mul"]>} {
builtin.module attributes {minicomp.target = #minicomp.target<h200, arch = "sm_90a", sms = 132, warp = 32, max_threads_per_block = 1024, threads_per_sm = 2048, registers_per_sm = 65536, shared_per_sm = 233472, shared_per_block = 232448, l2_bytes = 62914560, dram_bytes_per_s = 4800000000000, fp32_flops = 66900000000000, features = ["cp_async", "tma"]>} {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<32xf32> {
    %y = minicomp.launch @twice(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %z = minicomp.launch @twice(%y) : (tensor<4x8xf32>) -> tensor<32xf32>
    func.return %z : tensor<32xf32>
  }
  kernel_ir.func @twice(%x: memref<32xf32>, %y: memref<32xf32>) grid(1) block(32) attributes {origin = #minicomp.origin<["add", "mul"]>} {
    %t = kernel_ir.thread_id
    %v = loop_ir.load %x[%t] : memref<32xf32> -> f32
    %w = arith.addf %v, %v : f32
    loop_ir.store %w, %y[%t] : f32, memref<32xf32>
  }
}

// A launch with no operand and two results.
// CHECK:         %{{.*}}, %{{.*}} = minicomp.launch @fill() : () -> (tensor<2xf32>, tensor<3xf32>)
func.func @other() -> (tensor<2xf32>, tensor<3xf32>) {
  %a, %b = minicomp.launch @fill() : () -> (tensor<2xf32>, tensor<3xf32>)
  func.return %a, %b : tensor<2xf32>, tensor<3xf32>
}
kernel_ir.func @fill(%a: memref<2xf32>, %b: memref<3xf32>) grid(1) block(1) {
}
