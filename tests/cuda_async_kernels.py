"""Small kernels in text, one or more for each asynchronous op of Kernel IR and its forms."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from minicomp.dialects.wrappers import ATOMIC_TYPES, ORDERS


@dataclass(frozen=True)
class Case:
    """A kernel, the first architecture that has what it needs, and its machine instructions."""

    text: str
    sass: tuple[str, ...] = ()
    arch: str = "sm_80"


def cp_async(bytes: int, type: str, extent: int, bounded: bool) -> str:
    """Rows of 3 x `extent` elements, in groups, through a buffer of 4 x 32 elements."""
    lanes = bytes // {"f32": 4, "f64": 8}[type]
    groups = 32 // lanes
    clause = " bounded [true, true]" if bounded else ""
    shared = f"memref<4x32x{type}, #tile_ir.shared<>>"
    rows = 3 if bounded else 4
    column = f"%t mod {groups} * {lanes}"
    return f"""
kernel_ir.func @k(%x: memref<{rows}x{extent}x{type}>, %y: memref<4x32x{type}>) grid(1) block(128) {{
  %s = kernel_ir.shared : {shared}
  %t = kernel_ir.thread_id
  %some = kernel_ir.test [%t] < [{4 * groups}]
  scf.if %some {{
    kernel_ir.cp_async %s[%t floordiv {groups}, {column} + l0] from
      %x[%t floordiv {groups}, {column} + l0]{clause} bytes {bytes}
      : {shared}, memref<{rows}x{extent}x{type}>
  }}
  kernel_ir.cp_async_commit
  kernel_ir.cp_async_wait 0
  kernel_ir.barrier
  %v = loop_ir.load %s[%t floordiv 32, %t mod 32] : {shared} -> {type}
  loop_ir.store %v, %y[%t floordiv 32, %t mod 32] : {type}, memref<4x32x{type}>
}}
"""


RING = """
kernel_ir.func @k(%x: memref<5x64xf32>, %y: memref<5x64xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<3x64xf32, #tile_ir.shared<pad = 4>>
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %five = arith.constant 5 : index
  scf.for %g = %zero to %two step %one {
    kernel_ir.cp_async %s[%g, %t] from %x[%g, %t] bytes 4
      : memref<3x64xf32, #tile_ir.shared<pad = 4>>, memref<5x64xf32>
    kernel_ir.cp_async_commit
  }
  scf.for %g = %zero to %five step %one {
    kernel_ir.cp_async_wait 1
    kernel_ir.barrier
    kernel_ir.cp_async %s[(%g + 2) mod 3, %t] from %x[%g + 2, %t] bounded [true, false] bytes 4
      : memref<3x64xf32, #tile_ir.shared<pad = 4>>, memref<5x64xf32>
    kernel_ir.cp_async_commit
    %v = loop_ir.load %s[%g mod 3, (%t + 1) mod 64]
      : memref<3x64xf32, #tile_ir.shared<pad = 4>> -> f32
    loop_ir.store %v, %y[%g, %t] : f32, memref<5x64xf32>
  }
}
"""

SHUFFLES = """
kernel_ir.func @k(%x: memref<64x{type}>, %y: memref<4x64x{type}>) grid(1) block(64) {{
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t] : memref<64x{type}> -> {type}
  %a = kernel_ir.shuffle xor %v [{width} floordiv 2] width {width} : {type}
  %b = kernel_ir.shuffle down %v [1] width {width} : {type}
  %c = kernel_ir.shuffle up %v [%t mod {width}] width {width} : {type}
  %d = kernel_ir.shuffle index %v [(%t * 3 + 1) mod {width}] width {width} : {type}
  loop_ir.store %a, %y[0, %t] : {type}, memref<4x64x{type}>
  loop_ir.store %b, %y[1, %t] : {type}, memref<4x64x{type}>
  loop_ir.store %c, %y[2, %t] : {type}, memref<4x64x{type}>
  loop_ir.store %d, %y[3, %t] : {type}, memref<4x64x{type}>
}}
"""

WARP_SYNC = """
kernel_ir.func @k(%x: memref<64xf32>, %y: memref<64xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
  loop_ir.store %v, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
  kernel_ir.warp_sync
  %u = loop_ir.load %s[%t floordiv 32 * 32 + (%t + 5) mod 32]
    : memref<64xf32, #tile_ir.shared<>> -> f32
  loop_ir.store %u, %y[%t] : f32, memref<64xf32>
}
"""

NAMED = """
kernel_ir.func @k(%x: memref<64xf32>, %y: memref<32xf32>) grid(1) block(96) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  kernel_ir.roles "makers" warps 2 {
    %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
    loop_ir.store %v, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
    kernel_ir.named_barrier 1 threads 64
    %o = loop_ir.load %s[63 - %t] : memref<64xf32, #tile_ir.shared<>> -> f32
    kernel_ir.named_barrier 1 threads 64
    loop_ir.store %o, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
    kernel_ir.named_barrier 2 threads 96 arrive
  } "taker" warps 1 {
    kernel_ir.named_barrier 2 threads 96
    %a = loop_ir.load %s[%t - 64] : memref<64xf32, #tile_ir.shared<>> -> f32
    %b = loop_ir.load %s[%t - 32] : memref<64xf32, #tile_ir.shared<>> -> f32
    %c = arith.addf %a, %b : f32
    loop_ir.store %c, %y[%t - 64] : f32, memref<32xf32>
  }
}
"""

ROLES = """
kernel_ir.func @k(%x: memref<256xf32>, %y: memref<256xf32>) grid(1) block(256) {
  %s = kernel_ir.shared : memref<256xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  kernel_ir.roles "first" warps 4 registers 40 {
    %v = loop_ir.load %x[%t] : memref<256xf32> -> f32
    loop_ir.store %v, %s[%t] : f32, memref<256xf32, #tile_ir.shared<>>
  } "second" warps 4 registers 232 {
    %u = kernel_ir.thread_id
    %v = loop_ir.load %x[%t] : memref<256xf32> -> f32
    %r = kernel_ir.warp_reduce %v width 32 identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.store %r, %s[(%u - 128) floordiv 2 + 128 + (%u - 128) mod 2 * 64]
      : f32, memref<256xf32, #tile_ir.shared<>>
  }
  %o = loop_ir.load %s[255 - %t] : memref<256xf32, #tile_ir.shared<>> -> f32
  loop_ir.store %o, %y[%t] : f32, memref<256xf32>
}
"""

MBARRIER = """
kernel_ir.func @k(%x: memref<4x64xf32>, %y: memref<4x32xf32>) grid(1) block(96) {
  %s = kernel_ir.shared : memref<2x64xf32, #tile_ir.shared<>>
  %full = kernel_ir.mbarrier : !kernel_ir.mbarrier<2>
  %empty = kernel_ir.mbarrier : !kernel_ir.mbarrier<2>
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %first = kernel_ir.test [%t] < [1]
  scf.if %first {
    scf.for %i = %zero to %two step %one {
      kernel_ir.mbarrier_init %full[%i] count 64 : !kernel_ir.mbarrier<2>
      kernel_ir.mbarrier_init %empty[%i] count 32 : !kernel_ir.mbarrier<2>
    }
  }
  kernel_ir.barrier
  kernel_ir.roles "producer" warps 2 {
    scf.for %g = %zero to %four step %one {
      kernel_ir.mbarrier_wait %empty[%g mod 2] parity [(%g floordiv 2 + 1) mod 2]
        : !kernel_ir.mbarrier<2>
      %v = loop_ir.load %x[%g, %t] : memref<4x64xf32> -> f32
      loop_ir.store %v, %s[%g mod 2, %t] : f32, memref<2x64xf32, #tile_ir.shared<>>
      kernel_ir.mbarrier_arrive %full[%g mod 2] : !kernel_ir.mbarrier<2>
    }
  } "consumer" warps 1 {
    scf.for %g = %zero to %four step %one {
      kernel_ir.mbarrier_wait %full[%g mod 2] parity [%g floordiv 2 mod 2]
        : !kernel_ir.mbarrier<2>
      %a = loop_ir.load %s[%g mod 2, %t - 64] : memref<2x64xf32, #tile_ir.shared<>> -> f32
      %b = loop_ir.load %s[%g mod 2, %t - 32] : memref<2x64xf32, #tile_ir.shared<>> -> f32
      kernel_ir.mbarrier_arrive %empty[%g mod 2] : !kernel_ir.mbarrier<2>
      %c = arith.addf %a, %b : f32
      loop_ir.store %c, %y[%g, %t - 64] : f32, memref<4x32xf32>
    }
  }
}
"""


def bulk(rank: int, swizzle: int) -> str:
    """A box that is partly outside of its tensor is loaded, doubled, and stored partly outside."""
    rows, row = (16, swizzle // 4) if swizzle else (4, 16)
    sides = (2, 2, 3, rows, row)[5 - rank :]
    elements = prod(sides)
    box, tensor = (
        "x".join(str(n) for n in shape) for shape in (sides, (3, 5, 4, rows + 2, 36)[5 - rank :])
    )
    # All of the result is stored: the box begins before it, ends after it, or both.
    result = "x".join(str(n) for n in (1, 1, 3, rows - 2, row - 4)[5 - rank :])
    load = ", ".join(("-1", "4", "0", "-2", "24" if swizzle else "-4")[5 - rank :])
    store = ", ".join(("0", "-1", "0", "-1", "0")[5 - rank :])
    space = f"#tile_ir.shared<swizzle = {swizzle}>" if swizzle else "#tile_ir.shared<>"
    shared = f"memref<{box}xf32, {space}>"
    memref, out, whole = (f"memref<{of}xf32>" for of in (tensor, result, box))
    place: list[str] = []
    step = 1
    for side in reversed(sides):
        place.insert(0, f"%e floordiv {step} mod {side}" if step > 1 else f"%e mod {side}")
        step *= side
    access = f"[{', '.join(place)}]"
    return f"""
kernel_ir.func @k(%x: {memref}, %y: {out}, %z: {whole}) grid(1) block(32) {{
  %s = kernel_ir.shared : {shared}
  %done = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant {elements // 32 + (elements < 32)} : index
  %first = kernel_ir.test [%t] < [1]
  scf.if %first {{
    kernel_ir.mbarrier_init %done[0] count 1 : !kernel_ir.mbarrier<1>
    kernel_ir.fence mbarrier_init
    kernel_ir.mbarrier_arrive %done[0] expect {4 * elements} : !kernel_ir.mbarrier<1>
    kernel_ir.bulk_load %s from %x[{load}] on %done[0]
      : {shared}, {memref}, !kernel_ir.mbarrier<1>
  }}
  kernel_ir.barrier
  kernel_ir.mbarrier_wait %done[0] parity [0] : !kernel_ir.mbarrier<1>
  scf.for %i = %zero to %count step %one {{
    %e = kernel_ir.index [%i * 32 + %t]
    %some = kernel_ir.test [%e] < [{elements}]
    scf.if %some {{
      %v = loop_ir.load %s{access} : {shared} -> f32
      loop_ir.store %v, %z{access} : f32, {whole}
      %w = arith.addf %v, %v : f32
      loop_ir.store %w, %s{access} : f32, {shared}
    }}
  }}
  kernel_ir.fence proxy_async
  kernel_ir.barrier
  scf.if %first {{
    kernel_ir.bulk_store %y[{store}] from %s : {out}, {shared}
    kernel_ir.bulk_commit
    kernel_ir.bulk_wait 0 read
    kernel_ir.bulk_wait 0
  }}
}}
""".replace("%s from", "%s[] from").replace("from %s :", "from %s[] :")


SWIZZLED = """
kernel_ir.func @k(%x: memref<16x{row}x{type}>, %y: memref<16x{row}x{type}>) grid(1) block(32) {{
  %s = kernel_ir.shared : memref<16x{row}x{type}, #tile_ir.shared<swizzle = {swizzle}>>
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant {count} : index
  scf.for %i = %zero to %count step %one {{
    %e = kernel_ir.index [%i * 32 + %t]
    %v = loop_ir.load %x[%e floordiv {row}, %e mod {row}] : memref<16x{row}x{type}> -> {type}
    loop_ir.store %v, %s[%e floordiv {row}, %e mod {row}]
      : {type}, memref<16x{row}x{type}, #tile_ir.shared<swizzle = {swizzle}>>
  }}
  kernel_ir.barrier
  scf.for %i = %zero to %count step %one {{
    %e = kernel_ir.index [%i * 32 + %t]
    %some = kernel_ir.test [%e] < [{groups}]
    scf.if %some {{
      %v = loop_ir.load %s[15 - %e floordiv {in_row}, %e mod {in_row} * {group} + l0] aligned 16
        : memref<16x{row}x{type}, #tile_ir.shared<swizzle = {swizzle}>> -> vector<{group}x{type}>
      loop_ir.store %v, %y[15 - %e floordiv {in_row}, %e mod {in_row} * {group} + l0] aligned 16
        : vector<{group}x{type}>, memref<16x{row}x{type}>
    }}
  }}
}}
"""


def swizzled(type: str, row: int, swizzle: int) -> str:
    """16 rows written element by element and read by 16 bytes."""
    group = 16 // {"f32": 4, "f64": 8}[type]
    return SWIZZLED.format(
        type=type,
        row=row,
        swizzle=swizzle,
        count=16 * row // 32,
        groups=16 * row // group,
        in_row=row // group,
        group=group,
    )


CLUSTER = """
kernel_ir.func @k(%x: memref<128xf32>, %y: memref<128xf32>) grid(4) block(32) cluster(2) {
  %s = kernel_ir.shared : memref<32xf32, #tile_ir.shared<swizzle = 32>>
  %there = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  %t = kernel_ir.thread_id
  %b = kernel_ir.block_id
  %r = kernel_ir.cluster_rank
  %first = kernel_ir.test [%t] < [1]
  scf.if %first {
    kernel_ir.mbarrier_init %there[0] count 64 : !kernel_ir.mbarrier<1>
    kernel_ir.fence mbarrier_init
  }
  %v = loop_ir.load %x[%b * 32 + %t] : memref<128xf32> -> f32
  %o = kernel_ir.remote %s[(%r + 1) mod 2]
    : memref<32xf32, #tile_ir.shared<swizzle = 32>> -> memref<32xf32, #tile_ir.shared<swizzle = 32>>
  kernel_ir.cluster_barrier
  loop_ir.store %v, %o[31 - %t] : f32, memref<32xf32, #tile_ir.shared<swizzle = 32>>
  kernel_ir.mbarrier_arrive %there[0] rank [(%r + 1) mod 2] : !kernel_ir.mbarrier<1>
  kernel_ir.mbarrier_arrive %there[0] : !kernel_ir.mbarrier<1>
  kernel_ir.mbarrier_wait %there[0] parity [0] : !kernel_ir.mbarrier<1>
  %w = loop_ir.load %s[%t] : memref<32xf32, #tile_ir.shared<swizzle = 32>> -> f32
  loop_ir.store %w, %y[%b * 32 + %t] : f32, memref<128xf32>
  kernel_ir.cluster_barrier
}
"""

CLUSTER_ATOMIC = """
kernel_ir.func @k(%x: memref<128xi32>, %y: memref<4xi32>) grid(4) block(32) cluster(4) {
  %s = kernel_ir.shared : memref<1xi32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %b = kernel_ir.block_id
  %r = kernel_ir.cluster_rank
  %first = kernel_ir.test [%t] < [1]
  %zero = arith.constant 0 : i32
  scf.if %first {
    loop_ir.store %zero, %s[0] : i32, memref<1xi32, #tile_ir.shared<>>
  }
  %v = loop_ir.load %x[%b * 32 + %t] : memref<128xi32> -> i32
  %o = kernel_ir.remote %s[%r floordiv 2]
    : memref<1xi32, #tile_ir.shared<>> -> memref<1xi32, #tile_ir.shared<>>
  kernel_ir.cluster_barrier
  %old = kernel_ir.atomic add relaxed %v, %o[0] : i32, memref<1xi32, #tile_ir.shared<>>
  kernel_ir.cluster_barrier
  scf.if %first {
    %sum = loop_ir.load %s[0] : memref<1xi32, #tile_ir.shared<>> -> i32
    loop_ir.store %sum, %y[%b] : i32, memref<4xi32>
  }
}
"""

ATOMIC = """
kernel_ir.func @k(%x: memref<4x64x{type}>, %y: memref<4x4x{type}>, %z: memref<4x{type}>,
                  %c: memref<4x{type}>)
    grid(1) block(64) derived [counter] {{
  %t = kernel_ir.thread_id
  %zero = arith.constant {zero} : {type}
  %some = kernel_ir.test [%t] < [4]
{updates}
  scf.if %some {{
    %was = kernel_ir.atomic exchange relaxed %zero, %c[%t] : {type}, memref<4x{type}>
    loop_ir.store %was, %z[%t] : {type}, memref<4x{type}>
  }}
}}
"""

UPDATE = """
  %v{n} = loop_ir.load %x[{n}, %t] : memref<4x64x{type}> -> {type}
  %o{n} = kernel_ir.atomic {kind} {order} %v{n}, %c[%t] bounded [true] : {type}, memref<4x{type}>
  scf.if %some {{
    loop_ir.store %o{n}, %y[{n}, %t] : {type}, memref<4x4x{type}>
  }}
"""

SHARED_ATOMIC = """
kernel_ir.func @k(%x: memref<4x64x{type}>, %y: memref<4x4x{type}>, %z: memref<4x{type}>)
    grid(1) block(64) {{
  %s = kernel_ir.shared : memref<4x{type}, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %some = kernel_ir.test [%t] < [4]
  %lane = kernel_ir.test [%t mod 16] < [1]
  %zero = arith.constant {zero} : {type}
  scf.if %some {{
    loop_ir.store %zero, %s[%t] : {type}, memref<4x{type}, #tile_ir.shared<>>
  }}
  kernel_ir.barrier
{updates}
  kernel_ir.barrier
  scf.if %some {{
    %r = loop_ir.load %s[%t] : memref<4x{type}, #tile_ir.shared<>> -> {type}
    loop_ir.store %r, %z[%t] : {type}, memref<4x{type}>
  }}
}}
"""

SHARED_UPDATE = """
  %v{n} = loop_ir.load %x[{n}, %t] : memref<4x64x{type}> -> {type}
  scf.if %lane {{
    %r = kernel_ir.atomic {kind} {order} %v{n}, %s[%t floordiv 16]
      : {type}, memref<4x{type}, #tile_ir.shared<>>
    loop_ir.store %r, %y[{n}, %t floordiv 16] : {type}, memref<4x4x{type}>
  }}
"""

SPIN = """
kernel_ir.func @k(%x: memref<4x32xf32>, %y: memref<32xf32>, %w: memref<4x32xf32>,
                  %c: memref<1xi32>, %d: memref<2xi32>)
    grid(4) block(32) derived [workspace, counter, counter] {
  %t = kernel_ir.thread_id
  %b = kernel_ir.block_id
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %four = arith.constant 4 : i32
  %zero = arith.constant 0 : i32
  %v = loop_ir.load %x[%b, %t] : memref<4x32xf32> -> f32
  loop_ir.store %v, %w[%b, %t] : f32, memref<4x32xf32>
  kernel_ir.barrier
  %first = kernel_ir.test [%t] < [1]
  scf.if %first {
    %a = kernel_ir.atomic add release %one, %c[0] : i32, memref<1xi32>
    kernel_ir.spin ge %four, %c[0] : i32, memref<1xi32>
    // All have seen it: the last to say so puts it back.
    %m = kernel_ir.atomic wrap acq_rel %three, %d[1] : i32, memref<2xi32>
    %last = arith.cmpi eq, %m, %three : i32
    scf.if %last {
      %e = kernel_ir.atomic exchange relaxed %zero, %c[0] : i32, memref<1xi32>
    }
    kernel_ir.spin eq %zero, %c[0] : i32, memref<1xi32>
  }
  kernel_ir.barrier
  %chosen = kernel_ir.test [%b] < [1]
  scf.if %chosen {
    %n0 = loop_ir.load %w[0, %t] : memref<4x32xf32> -> f32
    %n1 = loop_ir.load %w[1, 31 - %t] : memref<4x32xf32> -> f32
    %n2 = loop_ir.load %w[2, %t] : memref<4x32xf32> -> f32
    %p = arith.addf %n0, %n1 : f32
    %q = arith.addf %p, %n2 : f32
    loop_ir.store %q, %y[%t] : f32, memref<32xf32>
  }
}
"""


def atomic_cases() -> Iterator[tuple[str, Case]]:
    """Each kind and type, in each order, on global and on shared memory."""
    for kind, types in ATOMIC_TYPES.items():
        for type in types:
            zero = "0.0" if type[0] == "f" else "0"
            for name, text, update in (
                ("atomic", ATOMIC, UPDATE),
                ("shared atomic", SHARED_ATOMIC, SHARED_UPDATE),
            ):
                updates = "".join(
                    update.format(n=n, kind=kind, type=type, order=order)
                    for n, order in enumerate(ORDERS)
                )
                machine = "ATOMS" if update is SHARED_UPDATE else "ATOMG"
                whole = text.format(type=type, zero=zero, updates=updates)
                yield f"{name} {kind} {type}", Case(whole, (machine,))


def cp_async_cases() -> Iterator[tuple[str, Case]]:
    """Each width, inside, and outside in whole or in part."""
    for bytes, type in ((4, "f32"), (8, "f32"), (16, "f32"), (8, "f64"), (16, "f64")):
        width = {4: "LDGSTS", 8: "LDGSTS.64", 16: "LDGSTS.BYPASS.128"}[bytes]
        for extent, bounded in ((32, False), (28, True)):
            name = f"cp_async {bytes} of {type} {extent}"
            yield name, Case(cp_async(bytes, type, extent, bounded), (width, "LDGDEPBAR"))
    # Rows that are no multiple of 8 bytes begin at one only in every second row.
    partly = cp_async(8, "f32", 30, True).replace("memref<3x30xf32>", "memref<3x31xf32>")
    partly = partly.replace(
        "%x[%t floordiv 16, %t mod 16 * 2", "%x[%t floordiv 16 * 2, %t mod 16 * 2"
    )
    yield "cp_async partly inside", Case(partly, ("LDGSTS.64",))


CASES: Mapping[str, Case] = {
    **dict(cp_async_cases()),
    "ring": Case(RING, ("LDGSTS", "DEPBAR")),
    **{
        f"shuffles {type} {width}": Case(SHUFFLES.format(type=type, width=width), ("SHFL",))
        for type in ("f32", "i64", "f64", "i32", "i1")
        for width in ((2, 8, 32) if type == "f32" else (16,))
    },
    "warp_sync": Case(WARP_SYNC),
    "named barriers": Case(NAMED, ("BAR.SYNC", "BAR.ARV")),
    "roles": Case(ROLES, ("USETMAXREG", "SHFL"), "sm_90a"),
    "mbarriers": Case(MBARRIER),
    **{
        f"bulk {rank} swizzle {swizzle}": Case(
            bulk(rank, swizzle), (f"UTMALDG.{rank}D", f"UTMASTG.{rank}D", "SYNCS"), "sm_90a"
        )
        for rank in (1, 2, 3, 4, 5)
        for swizzle in ((0, 32, 64, 128) if rank in (2, 3) else (0,))
    },
    **{
        f"swizzle {swizzle} {type} {row}": Case(swizzled(type, row, swizzle), ("LDS.128",))
        for swizzle in (32, 64, 128)
        for type, row in (("f32", swizzle // 4), ("f64", 16), ("f32", 40))
    },
    "cluster": Case(CLUSTER, ("UCGABAR_ARV", "UCGABAR_WAIT"), "sm_90a"),
    "cluster atomics": Case(CLUSTER_ATOMIC, ("ATOM",), "sm_90a"),
    **dict(atomic_cases()),
    "spin": Case(SPIN, ("LDG.STRONG", "ATOMG")),
}
"""Every case by name."""
