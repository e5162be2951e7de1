//! Function bodies: blocks, instructions, debug records.
use crate::error::Result;
use crate::llvm::ast::{Block, Clause, Declared, Function, Inst, InstKind, Typed, Value};
use crate::llvm::lexer::Token;
use crate::llvm::parser::{Attached, Parser};

/// The block that a computed goto to no label of its function leads to.
const NOWHERE: &str = "weakspot.nowhere";

impl<'a> Parser<'a> {
    /// A body whose `{` is read.
    pub fn body(&mut self, function: &mut Function<'a>) -> Result<()> {
        while !self.eat(b'}') {
            if let Some(name) = self.label() {
                function.blocks.push(Block {
                    name,
                    insts: Vec::new(),
                });
                continue;
            }
            if function.blocks.is_empty() {
                // an unnamed first block takes the number after the unnamed parameters
                let number = function
                    .params
                    .iter()
                    .filter(|p| p.1.bytes().all(|c| c.is_ascii_digit()))
                    .count();
                function.blocks.push(Block {
                    name: number.to_string(),
                    insts: Vec::new(),
                });
            }
            match self.peek() {
                Token::Hash(record) => {
                    self.next();
                    self.record(record, function);
                }
                Token::Word("uselistorder" | "uselistorder_bb") => {
                    self.next();
                    self.finish();
                }
                Token::End => return self.fail("`}`"),
                _ => {
                    let inst = self.instruction()?;
                    if let InstKind::Call {
                        callee: Value::Global("llvm.dbg.declare"),
                        ..
                    } = inst.kind
                    {
                        continue;
                    }
                    if let Some(block) = function.blocks.last_mut() {
                        block.insts.push(inst);
                    }
                }
            }
        }
        let is_computed = |inst: &&Inst| matches!(inst.kind, InstKind::Switch { default, .. } if default == NOWHERE);
        let mut insts = function.blocks.iter().flat_map(|block| &block.insts);
        if let Some(jump) = insts.find(is_computed) {
            let nowhere = Inst {
                result: None,
                kind: InstKind::Unreachable,
                dbg: jump.dbg,
                allocated: None,
                line: jump.line,
            };
            function.blocks.push(Block {
                name: NOWHERE.to_string(),
                insts: vec![nowhere],
            });
        }
        Ok(())
    }

    fn label(&mut self) -> Option<String> {
        if self.peek_at(1) != Token::Punct(b':') {
            return None;
        }
        let name = match self.peek() {
            Token::Word(word) | Token::Str(word) => word.to_string(),
            Token::Int(number) => number.to_string(),
            _ => return None,
        };
        self.next();
        self.next();
        Some(name)
    }

    /// `#dbg_declare(ptr %x, !12, …)` says which variable an alloca holds, `#dbg_value` which one
    /// has the value of a register.
    fn record(&mut self, record: &str, function: &mut Function<'a>) {
        let (Token::Local(name), Token::Meta(variable)) = (self.peek_at(2), self.peek_at(4)) else {
            self.finish();
            return;
        };
        let mut location = None;
        while !self.at_line_start() && self.peek() != Token::End {
            if let Token::Meta(id) = self.next() {
                location = id.parse().ok();
            }
        }
        match (record, variable.parse()) {
            ("dbg_declare", Ok(variable)) => function.variables.push(Declared {
                name,
                variable,
                location,
                block: function.blocks.len().saturating_sub(1),
                inst: function.blocks.last().map_or(0, |block| block.insts.len()),
            }),
            ("dbg_value", Ok(variable)) => function.values.push((name, variable)),
            _ => {}
        }
    }

    fn instruction(&mut self) -> Result<Inst<'a>> {
        let line = self.line();
        let mut result = None;
        if let Token::Local(name) = self.peek() {
            self.next();
            self.expect(b'=')?;
            result = Some(name);
        }
        let Token::Word(opcode) = self.next() else {
            return self.fail("an instruction");
        };
        let kind = self.operation(opcode)?;
        let Attached { dbg, allocated } = self.finish();
        Ok(Inst {
            result,
            kind,
            dbg,
            allocated,
            line,
        })
    }

    fn operation(&mut self, opcode: &'a str) -> Result<InstKind<'a>> {
        Ok(match opcode {
            "load" => self.load()?,
            "store" => self.store()?,
            "atomicrmw" => self.rmw()?,
            "cmpxchg" => self.cas()?,
            "fence" => {
                let signal = self.syncscope();
                InstKind::Fence {
                    order: self.order()?,
                    signal,
                }
            }
            "br" => {
                if self.peek() == Token::Word("label") {
                    InstKind::Br(self.target()?)
                } else {
                    let (_, condition) = self.typed()?;
                    self.expect(b',')?;
                    let then = self.target()?;
                    self.expect(b',')?;
                    InstKind::CondBr {
                        condition,
                        then,
                        otherwise: self.target()?,
                    }
                }
            }
            "switch" => {
                let value = self.typed()?;
                self.expect(b',')?;
                let default = self.target()?;
                self.expect(b'[')?;
                let mut cases = Vec::new();
                while !self.eat(b']') {
                    let (_, case) = self.typed()?;
                    self.expect(b',')?;
                    cases.push((case, self.target()?));
                }
                InstKind::Switch {
                    value,
                    default,
                    cases,
                }
            }
            "indirectbr" => {
                let value = self.typed()?;
                self.expect(b',')?;
                self.expect(b'[')?;
                let mut cases = Vec::new();
                while !self.eat(b']') {
                    let label = self.target()?;
                    cases.push((self.address_of_label(self.function, label), label));
                    self.eat(b',');
                }
                InstKind::Switch {
                    value,
                    default: NOWHERE,
                    cases,
                }
            }
            "phi" => {
                self.flags()?;
                let ty = self.ty()?;
                let mut incoming = Vec::new();
                loop {
                    self.expect(b'[')?;
                    let value = self.value()?;
                    self.expect(b',')?;
                    let Token::Local(block) = self.next() else {
                        return self.fail("a block");
                    };
                    self.expect(b']')?;
                    incoming.push((value, block));
                    if !self.eat(b',') {
                        break;
                    }
                    // `, !dbg !1` comes after the last pair
                    if self.peek() != Token::Punct(b'[') {
                        break;
                    }
                }
                InstKind::Phi { ty, incoming }
            }
            "select" => {
                self.flags()?;
                let condition = self.typed()?;
                self.expect(b',')?;
                let a = self.typed()?;
                self.expect(b',')?;
                let (_, b) = self.typed()?;
                InstKind::Select { condition, a, b }
            }
            "call" | "tail" | "musttail" | "notail" => self.call()?,
            "invoke" => self.invoke()?,
            "landingpad" => self.landing_pad()?,
            "resume" => InstKind::Resume(self.typed()?),
            "ret" => {
                if self.eat_word("void") {
                    InstKind::Ret(None)
                } else {
                    InstKind::Ret(Some(self.typed()?))
                }
            }
            "unreachable" => InstKind::Unreachable,
            "alloca" => self.alloca()?,
            "getelementptr" => {
                self.flags()?;
                let source = self.ty()?;
                self.expect(b',')?;
                let base = self.typed()?;
                InstKind::Gep {
                    source,
                    base,
                    indices: self.more_operands()?,
                }
            }
            "extractvalue" => {
                let from = self.typed()?;
                InstKind::Extract {
                    from,
                    path: self.path()?,
                }
            }
            "insertvalue" => {
                let into = self.typed()?;
                self.expect(b',')?;
                let value = self.typed()?;
                InstKind::Insert {
                    into,
                    value,
                    path: self.path()?,
                }
            }
            "extractelement" => {
                let from = self.typed()?;
                self.expect(b',')?;
                InstKind::ExtractElement {
                    from,
                    index: self.typed()?,
                }
            }
            "insertelement" => {
                let into = self.typed()?;
                self.expect(b',')?;
                let value = self.typed()?;
                self.expect(b',')?;
                InstKind::InsertElement {
                    into,
                    value,
                    index: self.typed()?,
                }
            }
            "shufflevector" => {
                let a = self.typed()?;
                self.expect(b',')?;
                let (_, b) = self.typed()?;
                self.expect(b',')?;
                InstKind::ShuffleVector {
                    a,
                    b,
                    mask: self.typed()?,
                }
            }
            "icmp" | "fcmp" => {
                self.flags()?;
                let Token::Word(predicate) = self.next() else {
                    return self.fail("a predicate");
                };
                let a = self.typed()?;
                self.expect(b',')?;
                InstKind::Compare {
                    float: opcode == "fcmp",
                    predicate,
                    a,
                    b: self.value()?,
                }
            }
            "add" | "sub" | "mul" | "udiv" | "sdiv" | "urem" | "srem" | "and" | "or" | "xor"
            | "shl" | "lshr" | "ashr" | "fadd" | "fsub" | "fmul" | "fdiv" | "frem" => {
                self.flags()?;
                let a = self.typed()?;
                self.expect(b',')?;
                InstKind::Bin {
                    op: opcode,
                    a,
                    b: self.value()?,
                }
            }
            "trunc" | "zext" | "sext" | "ptrtoint" | "ptrtoaddr" | "inttoptr" | "bitcast"
            | "addrspacecast" | "fptoui" | "fptosi" | "uitofp" | "sitofp" | "fptrunc" | "fpext" => {
                self.flags()?;
                let value = self.typed()?;
                if !self.eat_word("to") {
                    return self.fail("`to`");
                }
                InstKind::Cast {
                    op: opcode,
                    value,
                    to: self.ty()?,
                }
            }
            "fneg" => {
                self.flags()?;
                InstKind::Negate(self.typed()?)
            }
            "freeze" => InstKind::Freeze(self.typed()?),
            "callbr" => {
                // `to label %a [label %b], !dbg !1` stands on the next line
                self.finish();
                self.eat_word("to");
                InstKind::Unsupported(opcode)
            }
            other => InstKind::Unsupported(other),
        })
    }

    fn target(&mut self) -> Result<&'a str> {
        if !self.eat_word("label") {
            return self.fail("`label`");
        }
        match self.next() {
            Token::Local(name) => Ok(name),
            _ => self.fail("a block"),
        }
    }

    fn order(&mut self) -> Result<&'a str> {
        match self.peek() {
            Token::Word(
                word @ ("unordered" | "monotonic" | "acquire" | "release" | "acq_rel" | "seq_cst"),
            ) => {
                self.next();
                Ok(word)
            }
            _ => self.fail("a memory order"),
        }
    }

    /// Whether the synchronisation scope is the thread itself.
    fn syncscope(&mut self) -> bool {
        if !self.eat_word("syncscope") {
            return false;
        }
        self.next();
        let single = self.next() == Token::Str("singlethread");
        self.next();
        single
    }

    fn load(&mut self) -> Result<InstKind<'a>> {
        let atomic = self.eat_word("atomic");
        let volatile = self.eat_word("volatile");
        let ty = self.ty()?;
        self.expect(b',')?;
        let (_, address) = self.typed()?;
        let order = self.access_order(atomic)?;
        Ok(InstKind::Load {
            ty,
            address,
            order,
            volatile,
        })
    }

    fn access_order(&mut self, atomic: bool) -> Result<Option<&'a str>> {
        if !atomic {
            return Ok(None);
        }
        self.syncscope();
        self.order().map(Some)
    }

    fn store(&mut self) -> Result<InstKind<'a>> {
        let atomic = self.eat_word("atomic");
        let volatile = self.eat_word("volatile");
        let value = self.typed()?;
        self.expect(b',')?;
        let (_, address) = self.typed()?;
        let order = self.access_order(atomic)?;
        Ok(InstKind::Store {
            value,
            address,
            order,
            volatile,
        })
    }

    fn rmw(&mut self) -> Result<InstKind<'a>> {
        let volatile = self.eat_word("volatile");
        let Token::Word(op) = self.next() else {
            return self.fail("an operation");
        };
        let (_, address) = self.typed()?;
        self.expect(b',')?;
        let value = self.typed()?;
        self.syncscope();
        Ok(InstKind::Rmw {
            op,
            address,
            value,
            order: self.order()?,
            volatile,
        })
    }

    fn cas(&mut self) -> Result<InstKind<'a>> {
        let weak = self.eat_word("weak");
        let volatile = self.eat_word("volatile");
        let (_, address) = self.typed()?;
        self.expect(b',')?;
        let expected = self.typed()?;
        self.expect(b',')?;
        let (_, desired) = self.typed()?;
        self.syncscope();
        Ok(InstKind::Cas {
            weak,
            address,
            expected,
            desired,
            success: self.order()?,
            failure: self.order()?,
            volatile,
        })
    }

    fn alloca(&mut self) -> Result<InstKind<'a>> {
        self.eat_word("inalloca");
        let ty = self.ty()?;
        let (mut count, mut align) = (None, 0);
        while self.peek() == Token::Punct(b',') {
            match self.peek_at(1) {
                Token::Word("align") => {
                    self.next();
                    self.next();
                    align = self.count()?;
                }
                Token::Word(word) if word.starts_with('i') => {
                    self.next();
                    count = Some(self.typed()?);
                }
                _ => break,
            }
        }
        Ok(InstKind::Alloca { ty, count, align })
    }

    fn more_operands(&mut self) -> Result<Vec<Typed<'a>>> {
        let mut out = Vec::new();
        while self.peek() == Token::Punct(b',') && !matches!(self.peek_at(1), Token::Meta(_)) {
            self.next();
            out.push(self.typed()?);
        }
        Ok(out)
    }

    fn path(&mut self) -> Result<Vec<u64>> {
        let mut out = Vec::new();
        while self.peek() == Token::Punct(b',') && matches!(self.peek_at(1), Token::Int(_)) {
            self.next();
            out.push(self.count()?);
        }
        Ok(out)
    }

    fn invoke(&mut self) -> Result<InstKind<'a>> {
        let call = Box::new(self.call()?);
        // attributes and operand bundles
        while !matches!(self.peek(), Token::Word("to") | Token::End) {
            match self.peek() {
                Token::Punct(b'(' | b'[' | b'{') => self.skip_group()?,
                _ => {
                    self.next();
                }
            }
        }
        self.next();
        let normal = self.target()?;
        if !self.eat_word("unwind") {
            return self.fail("`unwind`");
        }
        Ok(InstKind::Invoke {
            call,
            normal,
            unwind: self.target()?,
        })
    }

    fn landing_pad(&mut self) -> Result<InstKind<'a>> {
        let ty = self.ty()?;
        let (mut cleanup, mut clauses) = (false, Vec::new());
        loop {
            match self.peek() {
                Token::Word("cleanup") => {
                    self.next();
                    cleanup = true;
                }
                Token::Word("catch") => {
                    self.next();
                    clauses.push(Clause::Catch(self.typed()?.1));
                }
                Token::Word("filter") => {
                    self.next();
                    clauses.push(Clause::Filter(self.typed()?.1));
                }
                _ => break,
            }
        }
        Ok(InstKind::LandingPad {
            ty,
            cleanup,
            clauses,
        })
    }

    fn call(&mut self) -> Result<InstKind<'a>> {
        self.eat_word("call");
        self.skip_to_type()?;
        let result = self.ty()?;
        // a variadic callee is called through its whole function type
        if self.peek() == Token::Punct(b'(') {
            self.skip_group()?;
        }
        let callee = self.value()?;
        self.expect(b'(')?;
        let mut args = Vec::new();
        let mut byval = false;
        while !self.eat(b')') {
            let (arg, copied) = self.argument()?;
            byval |= copied;
            args.push(arg);
            self.eat(b',');
        }
        Ok(InstKind::Call {
            result,
            callee,
            args,
            byval,
        })
    }
}
