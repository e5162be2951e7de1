//! Makes litmus tests of assembly, from the instructions of each dialect.

use super::choices::Choices;
use super::question::{question, NUMBERS};

/// A dialect of assembly: its registers for values and for addresses, and its instructions, in
/// which `v` stands for a value's register, `a` for an address's, `n` for a number, `o` for an
/// offset and `l` for a label.
pub struct Assembly {
    name: &'static str,
    values: [&'static str; 3],
    addresses: [&'static str; 2],
    instructions: &'static [&'static str],
}

pub const ASSEMBLIES: [Assembly; 5] = [
    Assembly {
        name: "AArch64",
        values: ["0", "2", "4"],
        addresses: ["1", "3"],
        instructions: &[
            "MOV W@v,#@n",
            "STR W@v,[X@a]",
            "LDR W@v,[X@a]",
            "LDAR W@v,[X@a]",
            "LDAPR W@v,[X@a]",
            "STLR W@v,[X@a]",
            "LDR W@v,[X@a,W@v,SXTW]",
            "STR W@v,[X@a,#@o]",
            "EOR W@v,W@v,W@v",
            "ADD W@v,W@v,#@n",
            "AND X@v,X@v,X@v",
            "ORR W@v,W@v,#@n",
            "SUBS W@v,W@v,W@v",
            "CMP W@v,#@n",
            "CBNZ W@v,@l",
            "CBZ W@v,@l",
            "B.EQ @l",
            "B.NE @l",
            "B @l",
            "@l:",
            "LDXR W@v,[X@a]",
            "STXR W@v,W@v,[X@a]",
            "LDAXR W@v,[X@a]",
            "STLXR W@v,W@v,[X@a]",
            "SWP W@v,W@v,[X@a]",
            "SWPAL W@v,W@v,[X@a]",
            "LDADD W@v,W@v,[X@a]",
            "STADD W@v,[X@a]",
            "CAS W@v,W@v,[X@a]",
            "CASAL W@v,W@v,[X@a]",
            "DMB SY",
            "DMB LD",
            "DMB ST",
            "DSB SY",
            "ISB",
            "CSEL W@v,W@v,W@v,EQ",
            "CSET W@v,NE",
            "LDRB W@v,[X@a]",
            "MUL X@v,X@a,X@a",
            "STP W@v,W@v,[X@a]",
            "LDP W@v,W@v,[X@a],#8",
            "LDR W@v,[X@a,#4]!",
            "STR W@v,[X@a],#@n",
            "LDRSW X@v,[X@a]",
            "ADD X@v,X@v,W@v,SXTB #1",
            "EOR W@v,W@v,W@v,ROR #3",
            "BICS W@v,W@v,W@v",
            "UBFM W@v,W@v,#@n,#3",
            "SBFX X@v,X@v,#1,#@n",
            "MOVK W@v,#@n,LSL #16",
            "CSNEG W@v,W@v,W@v,HI",
            "CNEG X@v,X@v,VS",
            "RBIT W@v,W@v",
            "REV16 X@v,X@v",
            "SMULL X@v,W@v,W@v",
            "EXTR W@v,W@v,W@v,#@n",
            "CBNZ W@v,.+@n",
            "LDR X@v,[X@a]",
            "LDR W@v,[X@v]",
            "MOV X@v,X@a",
            "NOP",
            "RET",
            "TBNZ W@v,#@n,@l",
            "LDP W@v,W@v,[X@a]",
            "LDNP W@v,W@v,[X@a]",
            "STNP W@v,W@v,[X@a,#@n]",
            "LDXP W@v,W@v,[X@a]",
            "LDAXP X@v,X@v,[X@a]",
            "STXP W@v,W@v,W@v,[X@a]",
            "STLXP W@v,X@v,X@v,[X@a]",
            "CASP W@v,W@v,W@v,W@v,[X@a]",
            "CASPAL X@v,X@v,X@v,X@v,[X@a]",
            "LDIAPP W@v,W@v,[X@a]",
            "LDIAPP X@v,X@v,[X@a],#16",
            "STILP W@v,W@v,[X@a,#-8]!",
            "LDSMAXB W@v,W@v,[X@a]",
            "CASB W@v,W@v,[X@a]",
            "LSL X@v,X@v,#@n",
            "ADR X@v,@l",
            "ADR X@v,@l",
            "STR X@v,[X@a]",
            "LDR X@v,[X@a]",
            "BL @l",
            "BLR X@v",
            "BR X@v",
            "RET X@v",
        ],
    },
    Assembly {
        name: "PPC",
        values: ["r1", "r3", "r5"],
        addresses: ["r2", "r4"],
        instructions: &[
            "li @v,@n",
            "stw @v,0(@a)",
            "lwz @v,0(@a)",
            "std @v,0(@a)",
            "ld @v,@o(@a)",
            "lwzx @v,@v,@a",
            "stwx @v,@v,@a",
            "xor @v,@v,@v",
            "addi @v,@v,@n",
            "lis @v,@n",
            "addis @v,@v,@n",
            "rlwinm @v,@v,@n,30,3",
            "rlwimi @v,@v,4,@n,31",
            "clrldi @v,@v,32",
            "extsw @v,@v",
            "cmplwi @v,@n",
            "add @v,@v,@a",
            "cmpwi @v,@n",
            "cmpw @v,@v",
            "beq @l",
            "bne @l",
            "b @l",
            "@l:",
            "lwarx @v,r0,@a",
            "stwcx. @v,r0,@a",
            "sync",
            "lwsync",
            "eieio",
            "isync",
            "mr @v,@v",
            "and. @v,@v,@v",
            "divw @v,@v,@v",
            "lwz @v,0(@v)",
            "mullw @v,@a,@a",
            "divw. @v,@v,@v",
            "cmpd @v,@v",
            "lbarx @v,r0,@a",
            "stbcx. @v,r0,@a",
            "lharx @v,r0,@a",
            "sthcx. @v,r0,@a",
            "lwzu @v,@o(@a)",
            "stwu @v,@o(@v)",
            "lbzux @v,@a,@v",
            "stdux @v,@a,@v",
            "nor. @v,@v,@v",
            "sraw @v,@v,@a",
            "slwi @v,@v,@n",
            "cmpw cr1,@v,@v",
            "crand eq,4*cr1+eq,lt",
            "crorc 4*cr1+gt,@n,eq",
            "mcrf cr0,cr1",
            "bgt @l",
        ],
    },
    Assembly {
        name: "RISCV",
        values: ["x5", "x7", "x9"],
        addresses: ["x6", "x8"],
        instructions: &[
            "li @v,@n",
            "sw @v,0(@a)",
            "lw @v,0(@a)",
            "lw.aq @v,0(@a)",
            "sw.rl @v,0(@a)",
            "sd @v,@o(@a)",
            "lb @v,0(@a)",
            "xor @v,@v,@v",
            "add @v,@v,@a",
            "addi @v,@v,@n",
            "srl @v,@v,@v",
            "sraw @v,@v,@v",
            "divu @v,@v,@v",
            "remw @v,@v,@v",
            "mulhsu @v,@v,@v",
            "lui @v,@n",
            "sext.w @v,@v",
            "zext.b @v,@v",
            "seqz @v,@v",
            "bltu @v,@v,@l",
            "ori @v,x0,@n",
            "beq @v,x0,@l",
            "bne @v,@v,@l",
            "blt @v,@v,@l",
            "j @l",
            "@l:",
            "fence rw,rw",
            "fence r,rw",
            "fence w,w",
            "fence.tso",
            "fence.i",
            "lr.w @v,(@a)",
            "sc.w @v,@v,(@a)",
            "lr.w.aq @v,(@a)",
            "sc.w.rl @v,@v,(@a)",
            "amoswap.w @v,@v,(@a)",
            "amoadd.w.aqrl @v,@v,(@a)",
            "amomax.w @v,@v,(@a)",
            "amomax.b @v,@v,(@a)",
            "amoadd.h.aq @v,@v,(@a)",
            "amocas.w.aqrl @v,@v,(@a)",
            "amocas.d @v,@v,(@a)",
            "amocas.b.rl @v,@v,(@a)",
            "lhu @v,0(@a)",
            "lw @v,0(@v)",
            "mul @v,@a,@a",
        ],
    },
    Assembly {
        name: "X86",
        values: ["EAX", "EBX", "ECX"],
        addresses: ["x", "y"],
        instructions: &[
            "MOV [@a],$@n",
            "MOV @v,[@a]",
            "MOV [@a],@v",
            "XCHG [@a],@v",
            "LOCK INC [@a]",
            "INC [@a]",
            "LOCK ADD [@a],$@n",
            "MFENCE",
            "SFENCE",
            "LFENCE",
            "CMP @v,$@n",
            "CMP [@a],$@n",
            "JE @l",
            "JNE @l",
            "JMP @l",
            "@l:",
            "XOR @v,@v",
            "ADD @v,$@n",
            "TEST @v,@v",
            "DEC @v",
            "MOVB [@a],$@n",
            "MOV AL,[@a]",
            "LOCK CMPXCHG [@a],@v",
            "CMOVNE @v,[@a]",
            "SETB BL",
            "JA @l",
            "MOV @v,[@v]",
        ],
    },
    Assembly {
        name: "X86_64",
        values: ["rax", "rbx", "rcx"],
        addresses: ["x", "y"],
        instructions: &[
            "movq $@n,(@a)",
            "movq (@a),%@v",
            "movq %@v,(@a)",
            "xchgq %@v,(@a)",
            "lock incq (@a)",
            "incq (@a)",
            "lock addq $@n,(@a)",
            "mfence",
            "sfence",
            "cmpq $@n,%@v",
            "je @l",
            "jne @l",
            "jmp @l",
            "@l:",
            "xorq %@v,%@v",
            "shl $@n,%@v",
            "movq 8(%@v,%@v,8),%@v",
            "movb $@n,(%@v)",
            "endbr64",
            "addq $@n,%@v",
            "testq %@v,%@v",
            "movl (@a),%eax",
            "movb %ah,(@a)",
            "movzbl (@a),%ebx",
            "movswq %cx,%@v",
            "xchgb %bl,(@a)",
            "xchgw %ax,%cx",
            "lock xaddw %cx,(@a)",
            "lock cmpxchgb (@a),%cl",
            "lock cmpxchgq (@a),%@v",
            "lock cmpxchg8b (@a)",
            "lock cmpxchg16b (@a)",
            "lock cmpxchg16b @o(@a)",
            "cmovle (@a),%@v",
            "cmovel %eax,%ebx",
            "setc (@a)",
            "negb %ch",
            "notq (@a)",
            "shll $@n,%ebx",
            "js @l",
            "jb @l",
            "clflush (@a)",
            "cmpl %eax,(@a)",
            "movq (%@v),%@v",
        ],
    },
];

fn filled(template: &str, assembly: &Assembly, c: &mut Choices<'_>) -> String {
    let mut text = String::new();
    let mut parts = template.split('@');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (kind, rest) = part.split_at(1);
        text.push_str(match kind {
            "v" => c.of(&assembly.values),
            "a" => c.of(&assembly.addresses),
            "o" => c.of(&["0", "0", "0", "4", "8"]),
            "l" => c.of(&["L0", "L1"]),
            _ => c.of(&NUMBERS),
        });
        text.push_str(rest);
    }
    text
}

/// A test of 1 to 3 threads; labels that no instruction has are added at the end.
pub fn assembled(assembly: &Assembly, c: &mut Choices<'_>) -> String {
    let threads = 1 + c.below(3);
    let mut columns = Vec::new();
    for _ in 0..threads {
        let lines: Vec<String> = (0..c.below(6))
            .map(|_| filled(c.of(assembly.instructions), assembly, c))
            .collect();
        let mut lines: Vec<String> = lines;
        for label in ["L0", "L1"] {
            let used = lines.iter().any(|line| line.ends_with(label));
            if used && !lines.contains(&format!("{label}:")) {
                lines.push(format!("{label}:"));
            }
        }
        columns.push(lines);
    }
    let register = |c: &mut Choices<'_>| match assembly.name {
        "AArch64" => format!("X{}", c.of(&assembly.values)),
        _ => c.of(&assembly.values).to_owned(),
    };
    let mut text = format!("{} made\n{{\n", assembly.name);
    if !assembly.name.starts_with("X86") {
        for thread in 0..threads {
            for (address, place) in assembly.addresses.iter().zip(["x", "y"]) {
                let prefix = if assembly.name == "AArch64" { "X" } else { "" };
                text.push_str(&format!("{thread}:{prefix}{address}={place}; "));
            }
        }
    }
    if c.rarely(3) {
        text.push_str(&format!("0:{}={}; ", register(c), c.of(&NUMBERS)));
    }
    if c.rarely(4) {
        text.push_str(c.of(&[
            "int64_t x; ",
            "x=y; ",
            "int x[2]={1,2}; ",
            "uint64_t x[2]={1,2}; ",
            "uint8_t y=3; ",
            "0:X0=P0:L0; ",
        ]));
    }
    text.push_str("\n}\n");
    let heads: Vec<String> = (0..threads).map(|t| format!("P{t}")).collect();
    text.push_str(&format!(" {} ;\n", heads.join(" | ")));
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells: Vec<&str> = columns
            .iter()
            .map(|column| column.get(row).map_or("", String::as_str))
            .collect();
        text.push_str(&format!(" {} ;\n", cells.join(" | ")));
    }
    let observed = |c: &mut Choices<'_>| match c.below(3) {
        0 => "x".to_owned(),
        1 => "y".to_owned(),
        _ => format!("{}:{}", c.below(threads), register(c)),
    };
    text.push_str(&question(c, &observed));
    text
}
