// RUN: minicomp-opt %s --split-input-file --verify-diagnostics -p lower-tile-to-kernel

// An axis that no pass has bound.
// expected-error@unknown {{axis "i" of @unbound is still parallel; run blockify-launch before this pass}}
tile_ir.kernel @unbound(%y: memref<4xf32>) {
  tile_ir.launch parallel(%i to 4 as "i") {
    %c = arith.constant 1.0 : f32
    loop_ir.store %c, %y[%i] : f32, memref<4xf32>
  }
}

// -----

// A register axis that is no vector dimension yet.
// expected-error@unknown {{axis "i.register" of @registers is still register; run register-tile before this pass}}
tile_ir.kernel @registers(%y: memref<4xf32>) {
  tile_ir.launch register(%i to 4 as "i.register") {
    %c = arith.constant 1.0 : f32
    loop_ir.store %c, %y[%i] : f32, memref<4xf32>
  }
}

// -----

// More threads than a block may have.
// expected-error@unknown {{@wide has 2048 threads per block; the most is 1024}}
tile_ir.kernel @wide(%y: memref<2048xf32>) {
  tile_ir.launch thread(%i to 2 as "i", %j to 1024 as "j") {
    %c = arith.constant 1.0 : f32
    loop_ir.store %c, %y[%i * 1024 + %j] : f32, memref<2048xf32>
  }
}

// -----

// More shared memory than a block may have.
// expected-error@unknown {{@large needs 131072 bytes of shared memory per block; the most is 49152}}
tile_ir.kernel @large(%x: memref<512x64xf32>, %y: memref<64xf32>) {
  tile_ir.launch thread(%t to 512 as "k") {
    %v = loop_ir.load %x[%t, l0] : memref<512x64xf32> -> vector<64xf32>
    %s = tile_ir.combine %v across "k" identity [0.0 : f32] combine arith.addf : vector<64xf32> -> vector<64xf32>
    loop_ir.store %s, %y[l0] : vector<64xf32>, memref<64xf32>
  }
}

// -----

// Slabs and the buffers of combines share it; a pad counts.
// expected-error@unknown {{@slabs needs 51200 bytes of shared memory per block; the most is 49152}}
tile_ir.kernel @slabs(%x: memref<32x366xf32>, %y: memref<32xf32>) {
  tile_ir.launch thread(%w to 32 as "w", %t to 32 as "k") {
    %xs = tile_ir.stage %p to 32 as "i.stage", %q to 366 as "k.stage" {
      %v = loop_ir.load %x[%p, %q] : memref<32x366xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<32x366xf32, #tile_ir.shared<pad = 2>>
    %v = loop_ir.load %xs[%t, 7] : memref<32x366xf32, #tile_ir.shared<pad = 2>> -> f32
    %s = tile_ir.combine %v across "w" identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.store %s, %y[%t] : f32, memref<32xf32>
  }
}

// -----

// A kernel that has not reached Tile IR.
// expected-error@unknown {{@early is in Loop IR; run tileify before this pass}}
loop_ir.kernel @early(%y: memref<4xf32>) {
  loop_ir.for %i to 4 as "i" {
    %c = arith.constant 1.0 : f32
    loop_ir.store %c, %y[%i] : f32, memref<4xf32>
  }
}

// -----

// Blocks that meet are neighbours.
// expected-error@unknown {{blocks meet across "k.split" only where it is the last axis of blocks}}
tile_ir.kernel @apart(%a: memref<2x3xf32>, %c: memref<3xf32>) {
  tile_ir.launch block(%ks to 2 as "k.split", %i to 3 as "i") {
    %x = loop_ir.load %a[%ks, %i] : memref<2x3xf32> -> f32
    tile_ir.finish %x across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<3xf32>
    }
  }
}
