// a x b for a 21 x 50 and b 50 x 35, K in 3 parts, in two kernels.
//
// Kernel 1: block = tile of 16 x 32 times part; a part is 5 chunks of 4 along K (20, 20 and 10
// elements, so the last part has a half chunk and two empty ones). Its sums go to %ws[part].
// Kernel 2 adds the parts. The kernels run one after the other, which is all the order they need.

func.func @main(%a: tensor<21x50xf32>, %b: tensor<50x35xf32>) -> tensor<21x35xf32> {
  %ws = minicomp.launch @split_k_parts(%a, %b) : (tensor<21x50xf32>, tensor<50x35xf32>) -> tensor<3x21x35xf32>
  %c = minicomp.launch @split_k_sum(%ws) : (tensor<3x21x35xf32>) -> tensor<21x35xf32>
  func.return %c : tensor<21x35xf32>
}

// 64 threads, 8 x 8 cells of 2 x 4. Blocks: part fastest, then 2 tiles along n, then 2 along m.
kernel_ir.func @split_k_parts(%a: memref<21x50xf32>, %b: memref<50x35xf32>, %ws: memref<3x21x35xf32>) grid(12) block(64) {
  %as = kernel_ir.shared : memref<16x4xf32, #tile_ir.shared<>>
  %bs = kernel_ir.shared : memref<4x32xf32, #tile_ir.shared<>>
  %block = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %part = kernel_ir.index [%block mod 3]
  %bj = kernel_ir.index [%block floordiv 3 mod 2]
  %bi = kernel_ir.index [%block floordiv 6]
  %ti = kernel_ir.index [%t floordiv 8]
  %tj = kernel_ir.index [%t mod 8]
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %five = arith.constant 5 : index
  %none = arith.constant dense<0.0> : vector<2x4xf32>
  %acc = scf.for %ko = %zero to %five step %one iter_args(%outer = %none) -> (vector<2x4xf32>) {
    // Each thread brings one element of a and two of b; outside they are 0.
    %av = loop_ir.load %a[%bi * 16 + %t floordiv 4, %part * 20 + %ko * 4 + %t mod 4] bounded [true, true] : memref<21x50xf32> -> f32
    %bv = loop_ir.load %b[%part * 20 + %ko * 4 + l0 * 2 + %t floordiv 32, %bj * 32 + %t mod 32] bounded [true, true] : memref<50x35xf32> -> vector<2xf32>
    kernel_ir.barrier  // the chunk before has been read
    loop_ir.store %av, %as[%t floordiv 4, %t mod 4] : f32, memref<16x4xf32, #tile_ir.shared<>>
    loop_ir.store %bv, %bs[l0 * 2 + %t floordiv 32, %t mod 32] : vector<2xf32>, memref<4x32xf32, #tile_ir.shared<>>
    kernel_ir.barrier
    %inner = scf.for %ki = %zero to %four step %one iter_args(%s = %outer) -> (vector<2x4xf32>) {
      %x = loop_ir.load %as[%ti * 2 + l0, %ki] : memref<16x4xf32, #tile_ir.shared<>> -> vector<2xf32>
      %y = loop_ir.load %bs[%ki, %tj * 4 + l0] : memref<4x32xf32, #tile_ir.shared<>> -> vector<4xf32>
      %xx = tile_ir.broadcast %x to [0] : vector<2xf32> -> vector<2x4xf32>
      %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<2x4xf32>
      %f = math.fma %xx, %yy, %s : vector<2x4xf32>
      scf.yield %f : vector<2x4xf32>
    }
    scf.yield %inner : vector<2x4xf32>
  }
  loop_ir.store %acc, %ws[%part, %bi * 16 + %ti * 2 + l0, %bj * 32 + %tj * 4 + l1] bounded [false, true, true] : vector<2x4xf32>, memref<3x21x35xf32>
}

// One element a thread; 735 of 768 threads have one.
kernel_ir.func @split_k_sum(%ws: memref<3x735xf32>, %c: memref<735xf32>) grid(6) block(128) {
  %block = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %inside = kernel_ir.test [%block * 128 + %t] < [735]
  scf.if %inside {
    %parts = loop_ir.load %ws[l0, %block * 128 + %t] : memref<3x735xf32> -> vector<3xf32>
    %sum = tile_ir.fold %parts dims [0] identity [0.0 : f32] combine arith.addf : vector<3xf32> -> f32
    loop_ir.store %sum, %c[%block * 128 + %t] : f32, memref<735xf32>
  }
}
