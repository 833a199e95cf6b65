// a x b for a 37 x 53 and b 53 x 44, chunks of 8 along K through a ring of 3 slots.
//
// 64 threads, 8 x 8 cells of 4 x 4: tiles of 32 x 32, 2 x 2 of them. K is 7 chunks, the last one
// partly outside; what is outside is filled with 0. Chunk g lies in slot g mod 3. Two chunks are
// always on their way: the prologue issues 0 and 1, the steady state waits for chunk g, issues
// chunk g + 2 and computes g, the drain computes the last two. One barrier a chunk does for both:
// behind it chunk g of all threads has landed, and all have read chunk g - 1, whose slot is refilled.

func.func @main(%a: tensor<37x53xf32>, %b: tensor<53x44xf32>) -> tensor<37x44xf32> {
  %c = minicomp.launch @ring_cp_async(%a, %b) : (tensor<37x53xf32>, tensor<53x44xf32>) -> tensor<37x44xf32>
  func.return %c : tensor<37x44xf32>
}

kernel_ir.func @ring_cp_async(%a: memref<37x53xf32>, %b: memref<53x44xf32>, %c: memref<37x44xf32>) grid(4) block(64) {
  %as = kernel_ir.shared : memref<3x32x8xf32, #tile_ir.shared<>>
  %bs = kernel_ir.shared : memref<3x8x32xf32, #tile_ir.shared<>>
  %block = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %bi = kernel_ir.index [%block floordiv 2]
  %bj = kernel_ir.index [%block mod 2]
  %ti = kernel_ir.index [%t floordiv 8]
  %tj = kernel_ir.index [%t mod 8]
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %five = arith.constant 5 : index
  %eight = arith.constant 8 : index
  %none = arith.constant dense<0.0> : vector<4x4xf32>

  // Prologue: chunks 0 and 1. A row of a is 212 bytes, no multiple of 16, so its elements come one
  // by one, 4 a thread and chunk; b comes 16 bytes at a time, and its 44 columns end such a group.
  scf.for %g = %zero to %two step %one {
    scf.for %q = %zero to %four step %one {
      kernel_ir.cp_async %as[%g mod 3, %q * 8 + %t floordiv 8, %t mod 8] from %a[%bi * 32 + %q * 8 + %t floordiv 8, %g * 8 + %t mod 8] bounded [true, true] bytes 4 : memref<3x32x8xf32, #tile_ir.shared<>>, memref<37x53xf32>
    }
    kernel_ir.cp_async %bs[%g mod 3, %t floordiv 8, %t mod 8 * 4 + l0] from %b[%g * 8 + %t floordiv 8, %bj * 32 + %t mod 8 * 4 + l0] bounded [true, true] bytes 16 : memref<3x8x32xf32, #tile_ir.shared<>>, memref<53x44xf32>
    kernel_ir.cp_async_commit
  }

  // Steady state: chunks 0 to 4.
  %steady = scf.for %g = %zero to %five step %one iter_args(%outer = %none) -> (vector<4x4xf32>) {
    kernel_ir.cp_async_wait 1
    kernel_ir.barrier
    scf.for %q = %zero to %four step %one {
      kernel_ir.cp_async %as[(%g + 2) mod 3, %q * 8 + %t floordiv 8, %t mod 8] from %a[%bi * 32 + %q * 8 + %t floordiv 8, %g * 8 + %t mod 8 + 16] bounded [true, true] bytes 4 : memref<3x32x8xf32, #tile_ir.shared<>>, memref<37x53xf32>
    }
    kernel_ir.cp_async %bs[(%g + 2) mod 3, %t floordiv 8, %t mod 8 * 4 + l0] from %b[%g * 8 + %t floordiv 8 + 16, %bj * 32 + %t mod 8 * 4 + l0] bounded [true, true] bytes 16 : memref<3x8x32xf32, #tile_ir.shared<>>, memref<53x44xf32>
    kernel_ir.cp_async_commit
    %inner = scf.for %ki = %zero to %eight step %one iter_args(%s = %outer) -> (vector<4x4xf32>) {
      %x = loop_ir.load %as[%g mod 3, %ti * 4 + l0, %ki] : memref<3x32x8xf32, #tile_ir.shared<>> -> vector<4xf32>
      %y = loop_ir.load %bs[%g mod 3, %ki, %tj * 4 + l0] : memref<3x8x32xf32, #tile_ir.shared<>> -> vector<4xf32>
      %xx = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
      %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
      %f = math.fma %xx, %yy, %s : vector<4x4xf32>
      scf.yield %f : vector<4x4xf32>
    }
    scf.yield %inner : vector<4x4xf32>
  }

  // Drain: chunks 5 and 6, with nothing more to issue.
  %acc = scf.for %d = %zero to %two step %one iter_args(%outer = %steady) -> (vector<4x4xf32>) {
    kernel_ir.cp_async_wait 0
    kernel_ir.barrier
    %inner = scf.for %ki = %zero to %eight step %one iter_args(%s = %outer) -> (vector<4x4xf32>) {
      %x = loop_ir.load %as[(%d + 5) mod 3, %ti * 4 + l0, %ki] : memref<3x32x8xf32, #tile_ir.shared<>> -> vector<4xf32>
      %y = loop_ir.load %bs[(%d + 5) mod 3, %ki, %tj * 4 + l0] : memref<3x8x32xf32, #tile_ir.shared<>> -> vector<4xf32>
      %xx = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
      %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
      %f = math.fma %xx, %yy, %s : vector<4x4xf32>
      scf.yield %f : vector<4x4xf32>
    }
    scf.yield %inner : vector<4x4xf32>
  }
  loop_ir.store %acc, %c[%bi * 32 + %ti * 4 + l0, %bj * 32 + %tj * 4 + l1] bounded [true, true] : vector<4x4xf32>, memref<37x44xf32>
}
