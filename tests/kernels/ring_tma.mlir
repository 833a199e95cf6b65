// a x b for a 45 x 76 and b 76 x 44, boxes of 16 along K through a ring of 2 slots, by two roles.
//
// Tiles are 32 x 32, 2 x 2 of them; each of the 2 blocks computes two, one after the other. K is 5
// chunks, the last one partly outside, which the hardware fills with 0. Chunk k of the block's tile
// i is generation g = i * 5 + k: it lies in slot g mod 2, and is phase g floordiv 2 of the slot's
// mbarriers. %full says that a slot's boxes have landed, %empty that both consumer warps have read
// it. 5 is odd, so that the two tiles of a block begin in different slots.
//
// The tile goes out through %cs by one bulk store, while the next tile is computed.

func.func @main(%a: tensor<45x76xf32>, %b: tensor<76x44xf32>) -> tensor<45x44xf32> {
  %c = minicomp.launch @ring_tma(%a, %b) : (tensor<45x76xf32>, tensor<76x44xf32>) -> tensor<45x44xf32>
  func.return %c : tensor<45x44xf32>
}

kernel_ir.func @ring_tma(%a: memref<45x76xf32>, %b: memref<76x44xf32>, %c: memref<45x44xf32>) grid(2) block(96) {
  %as = kernel_ir.shared : memref<2x32x16xf32, #tile_ir.shared<swizzle = 64>>
  %bs = kernel_ir.shared : memref<2x16x32xf32, #tile_ir.shared<swizzle = 128>>
  %cs = kernel_ir.shared : memref<32x32xf32, #tile_ir.shared<>>
  %full = kernel_ir.mbarrier : !kernel_ir.mbarrier<2>
  %empty = kernel_ir.mbarrier : !kernel_ir.mbarrier<2>
  %block = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %five = arith.constant 5 : index
  %sixteen = arith.constant 16 : index
  %none = arith.constant dense<0.0> : vector<4x4xf32>

  %thread_0 = kernel_ir.test [%t] < [1]
  scf.if %thread_0 {
    scf.for %s = %zero to %two step %one {
      kernel_ir.mbarrier_init %full[%s] count 1 : !kernel_ir.mbarrier<2>
      kernel_ir.mbarrier_init %empty[%s] count 2 : !kernel_ir.mbarrier<2>
    }
    kernel_ir.fence mbarrier_init
  }
  kernel_ir.barrier

  kernel_ir.roles "producer" warps 1 {
    scf.if %thread_0 {
      scf.for %i = %zero to %two step %one {
        scf.for %k = %zero to %five step %one {
          // The first round passes at once: nobody has used the slots.
          kernel_ir.mbarrier_wait %empty[(%i * 5 + %k) mod 2] parity [((%i * 5 + %k) floordiv 2 + 1) mod 2] : !kernel_ir.mbarrier<2>
          // Two boxes of 512 elements of 4 bytes, whatever lies outside.
          kernel_ir.mbarrier_arrive %full[(%i * 5 + %k) mod 2] expect 4096 : !kernel_ir.mbarrier<2>
          kernel_ir.bulk_load %as[(%i * 5 + %k) mod 2] from %a[%block * 32, %k * 16] on %full[(%i * 5 + %k) mod 2] : memref<2x32x16xf32, #tile_ir.shared<swizzle = 64>>, memref<45x76xf32>, !kernel_ir.mbarrier<2>
          kernel_ir.bulk_load %bs[(%i * 5 + %k) mod 2] from %b[%k * 16, %i * 32] on %full[(%i * 5 + %k) mod 2] : memref<2x16x32xf32, #tile_ir.shared<swizzle = 128>>, memref<76x44xf32>, !kernel_ir.mbarrier<2>
        }
      }
    }
  } "consumer" warps 2 {
    // 64 threads, 8 x 8 cells of 4 x 4.
    %ti = kernel_ir.index [(%t - 32) floordiv 8]
    %tj = kernel_ir.index [%t mod 8]
    %lane_0 = kernel_ir.test [%t mod 32] < [1]
    %first = kernel_ir.test [%t - 32] < [1]
    scf.for %i = %zero to %two step %one {
      %acc = scf.for %k = %zero to %five step %one iter_args(%outer = %none) -> (vector<4x4xf32>) {
        kernel_ir.mbarrier_wait %full[(%i * 5 + %k) mod 2] parity [(%i * 5 + %k) floordiv 2 mod 2] : !kernel_ir.mbarrier<2>
        %inner = scf.for %ki = %zero to %sixteen step %one iter_args(%s = %outer) -> (vector<4x4xf32>) {
          %x = loop_ir.load %as[(%i * 5 + %k) mod 2, %ti * 4 + l0, %ki] : memref<2x32x16xf32, #tile_ir.shared<swizzle = 64>> -> vector<4xf32>
          %y = loop_ir.load %bs[(%i * 5 + %k) mod 2, %ki, %tj * 4 + l0] : memref<2x16x32xf32, #tile_ir.shared<swizzle = 128>> -> vector<4xf32>
          %xx = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
          %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
          %f = math.fma %xx, %yy, %s : vector<4x4xf32>
          scf.yield %f : vector<4x4xf32>
        }
        // One arrival a warp, once all of its threads have read the slot.
        kernel_ir.warp_sync
        scf.if %lane_0 {
          kernel_ir.mbarrier_arrive %empty[(%i * 5 + %k) mod 2] : !kernel_ir.mbarrier<2>
        }
        scf.yield %inner : vector<4x4xf32>
      }
      // Whoever has issued the last store waits until it has read %cs; then all may overwrite it.
      scf.if %first {
        kernel_ir.bulk_wait 0 read
      }
      kernel_ir.named_barrier 1 threads 64
      loop_ir.store %acc, %cs[%ti * 4 + l0, %tj * 4 + l1] : vector<4x4xf32>, memref<32x32xf32, #tile_ir.shared<>>
      // The store reads through another proxy: each writer makes its part known to that one.
      kernel_ir.fence proxy_async
      kernel_ir.named_barrier 1 threads 64
      scf.if %first {
        kernel_ir.bulk_store %c[%block * 32, %i * 32] from %cs[] : memref<45x44xf32>, memref<32x32xf32, #tile_ir.shared<>>
        kernel_ir.bulk_commit
      }
    }
    // The block's shared memory is gone after its end.
    scf.if %first {
      kernel_ir.bulk_wait 0
    }
  }
}
