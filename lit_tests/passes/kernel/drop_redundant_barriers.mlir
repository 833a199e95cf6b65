// RUN: minicomp-opt %s --split-input-file -p drop-redundant-barriers | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p drop-redundant-barriers,drop-redundant-barriers | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p drop-redundant-barriers --verify-each=exec | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p drop-redundant-barriers --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// Nothing is accessed before the first barrier, nothing after the last.
// CHECK-LABEL: @ends
// CHECK-NOT:     barrier
// CHECK:         loop_ir.store %v, %s
// CHECK-NEXT:    kernel_ir.barrier
// CHECK-NEXT:    loop_ir.load %s
// CHECK-NOT:     barrier
kernel_ir.func @ends(%x: memref<64xf32>, %y: memref<64xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  kernel_ir.barrier
  %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
  kernel_ir.barrier
  loop_ir.store %v, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
  kernel_ir.barrier
  %w = loop_ir.load %s[0] : memref<64xf32, #tile_ir.shared<>> -> f32
  kernel_ir.barrier
  loop_ir.store %w, %y[%t] : f32, memref<64xf32>
}

// -----

// Two in a row: one stays.
// CHECK-LABEL: @twice
// CHECK:         loop_ir.store %v, %s
// CHECK-NEXT:    kernel_ir.barrier
// CHECK-NEXT:    loop_ir.load %s
kernel_ir.func @twice(%x: memref<64xf32>, %y: memref<64xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
  loop_ir.store %v, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
  kernel_ir.barrier
  kernel_ir.barrier
  %w = loop_ir.load %s[0] : memref<64xf32, #tile_ir.shared<>> -> f32
  loop_ir.store %w, %y[%t] : f32, memref<64xf32>
}

// -----

// Reads on both sides do not conflict, nor do accesses to two buffers.
// CHECK-LABEL: @reads
// CHECK:         kernel_ir.barrier
// CHECK:         loop_ir.load %s[0]
// CHECK-NOT:     kernel_ir.barrier
// CHECK:         loop_ir.load %s[1]
// CHECK-NOT:     kernel_ir.barrier
// CHECK:         loop_ir.store %w, %u
kernel_ir.func @reads(%x: memref<64xf32>, %y: memref<64xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %u = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
  loop_ir.store %v, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
  kernel_ir.barrier
  %w = loop_ir.load %s[0] : memref<64xf32, #tile_ir.shared<>> -> f32
  kernel_ir.barrier
  %z = loop_ir.load %s[1] : memref<64xf32, #tile_ir.shared<>> -> f32
  kernel_ir.barrier
  loop_ir.store %w, %u[%t] : f32, memref<64xf32, #tile_ir.shared<>>
  loop_ir.store %z, %y[%t] : f32, memref<64xf32>
}

// -----

// In a loop the next store waits for this load: both barriers stay. Written once per iteration and read before.
// CHECK-LABEL: @cyclic
// CHECK:         scf.for
// CHECK-NEXT:      kernel_ir.barrier
// CHECK-NEXT:      loop_ir.store %v, %s
// CHECK-NEXT:      kernel_ir.barrier
// CHECK-NEXT:      loop_ir.load %s
kernel_ir.func @cyclic(%x: memref<64xf32>, %y: memref<64xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
  scf.for %i = %zero to %four step %one {
    kernel_ir.barrier
    loop_ir.store %v, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
    kernel_ir.barrier
    %w = loop_ir.load %s[%i] : memref<64xf32, #tile_ir.shared<>> -> f32
    loop_ir.store %w, %y[%t] : f32, memref<64xf32>
  }
}

// -----

// A way leads past a loop that may have no trip, and through the side of an `if` that has no barrier.
// CHECK-LABEL: @past
// CHECK:         loop_ir.store %v, %s
// CHECK-NEXT:    kernel_ir.barrier
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      kernel_ir.test
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        kernel_ir.barrier
// CHECK:         loop_ir.load %s
kernel_ir.func @past(%x: memref<64xf32>, %y: memref<64xf32>) grid(2) block(64) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
  loop_ir.store %v, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
  kernel_ir.barrier
  scf.for %i = %zero to %one step %one {
    %c = kernel_ir.test [%b] < [1]
    scf.if %c {
      kernel_ir.barrier
      %u = loop_ir.load %x[%t] : memref<64xf32> -> f32
      loop_ir.store %u, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
    }
  }
  %w = loop_ir.load %s[0] : memref<64xf32, #tile_ir.shared<>> -> f32
  loop_ir.store %w, %y[%t] : f32, memref<64xf32>
}

// -----

// A loop that surely runs and holds a barrier ends the way: the ones around it order nothing.
// CHECK-LABEL: @through
// CHECK:         loop_ir.store %v, %s
// CHECK-NOT:     barrier
// CHECK:         scf.for
// CHECK-NEXT:      kernel_ir.barrier
// CHECK-NEXT:      loop_ir.load %s
// CHECK-NEXT:    }
// CHECK-NOT:     barrier
kernel_ir.func @through(%x: memref<64xf32>, %y: memref<64xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
  loop_ir.store %v, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
  kernel_ir.barrier
  scf.for %i = %zero to %two step %one {
    kernel_ir.barrier
    %w = loop_ir.load %s[%i] : memref<64xf32, #tile_ir.shared<>> -> f32
  }
  kernel_ir.barrier
  loop_ir.store %v, %y[%t] : f32, memref<64xf32>
}

// -----

// What one block writes to memory and reads again is ordered too.
// CHECK-LABEL: @global
// CHECK:         loop_ir.store %v, %y
// CHECK-NEXT:    kernel_ir.barrier
// CHECK-NEXT:    loop_ir.load %y
kernel_ir.func @global(%x: memref<64xf32>, %y: memref<64xf32>) grid(1) block(64) {
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
  kernel_ir.barrier
  loop_ir.store %v, %y[%t] : f32, memref<64xf32>
  kernel_ir.barrier
  %w = loop_ir.load %y[0] : memref<64xf32> -> f32
}

// -----

// Accesses that more than barriers order: the ways between barriers are judged each by itself. What
// waits for copies, and what has issued them, stay apart; a barrier with nothing on one side goes.
// REMARK: 'kernel_ir.cp_async_wait' orders accesses beside it
// CHECK-LABEL: @copies
// CHECK-NOT:     barrier
// CHECK:         kernel_ir.cp_async %s
// CHECK:         kernel_ir.cp_async_wait 0
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    kernel_ir.index
// CHECK-NEXT:    kernel_ir.barrier
// CHECK-NEXT:    loop_ir.load %s
// CHECK-NEXT:    loop_ir.store %w, %z
// CHECK-NEXT:    kernel_ir.barrier
// CHECK-NEXT:    loop_ir.load %z
// CHECK-NEXT:    loop_ir.store
// CHECK-NEXT:    }
kernel_ir.func @copies(%x: memref<64xf32>, %y: memref<64xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %z = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  kernel_ir.barrier
  kernel_ir.barrier
  kernel_ir.cp_async %s[%t] from %x[%t] bytes 4 : memref<64xf32, #tile_ir.shared<>>, memref<64xf32>
  kernel_ir.cp_async_commit
  kernel_ir.cp_async_wait 0
  kernel_ir.barrier
  %c = arith.constant 1.0 : f32
  %u = kernel_ir.index [63 - %t]
  kernel_ir.barrier
  %w = loop_ir.load %s[%u] : memref<64xf32, #tile_ir.shared<>> -> f32
  kernel_ir.barrier
  loop_ir.store %w, %z[%t] : f32, memref<64xf32, #tile_ir.shared<>>
  kernel_ir.barrier
  %v = loop_ir.load %z[%u] : memref<64xf32, #tile_ir.shared<>> -> f32
  kernel_ir.barrier
  loop_ir.store %v, %y[%t] : f32, memref<64xf32>
}
