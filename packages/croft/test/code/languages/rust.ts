import type { GoldenLanguage } from '../golden.ts';

export const rust: GoldenLanguage = {
  path: 'shop.rs',
  source: `//! crate
use std::io;

/// A shop.
#[derive(Debug)]
pub struct Shop<T> {
    pub name: String,
}

pub enum Color { Red }

pub trait Shape {
    fn area(&self) -> f64;
    fn twice(&self) -> f64 { self.area() * 2.0 }
}

impl<T> Shop<T> {
    /// New.
    #[inline]
    pub fn new(name: String) -> Self {
        Shop { name }
    }

    async fn run(&self) {}
}

impl Shape for Shop<u8> {
    fn area(&self) -> f64 { 1.0 }
}

const LIMIT: u32 = 3;
static NAMES: [&str; 2] = [
    "a",
    "b",
];

macro_rules! say { () => {} }

mod inner {
    pub fn deep() {
        fn nested() {}
    }
}
type Id = u64;
`,
  outline: [
    'struct Shop',
    'field Shop.name',
    'enum Color',
    'trait Shape',
    'method Shape.area',
    'method Shape.twice',
    'method Shop.new',
    'method Shop.run',
    'method Shop.area',
    'constant LIMIT',
    'constant NAMES',
    'macro say',
    'module inner',
    'function inner.deep',
    'function inner.deep.nested',
    'type Id',
  ],
  edits: [
    {
      edit: 'body',
      symbol: 'Shop::new',
      text: 'let name = name;\nmatch name {\n    name => Shop { name },\n}',
      from: '        Shop { name }\n',
      to: '        let name = name;\n        match name {\n            name => Shop { name },\n        }\n',
    },
    { edit: 'body', symbol: 'Shop.run', text: 'todo!()', from: 'run(&self) {}', to: 'run(&self) { todo!() }' },
    {
      edit: 'body',
      symbol: 'nested',
      text: 'println!("x")',
      from: 'fn nested() {}',
      to: 'fn nested() { println!("x") }',
    },
    {
      edit: 'signature',
      symbol: 'Shop.new',
      text: 'pub async fn new(name: String, size: usize) -> Self',
      from: 'pub fn new(name: String) -> Self',
      to: 'pub async fn new(name: String, size: usize) -> Self',
    },
    {
      edit: 'signature',
      symbol: 'Shape.area',
      text: 'fn area(&self, scale: f64) -> f64',
      from: '    fn area(&self) -> f64;',
      to: '    fn area(&self, scale: f64) -> f64;',
    },
    {
      edit: 'after',
      symbol: 'NAMES',
      text: 'const MORE: u32 = 4;',
      from: '    "b",\n];\n',
      to: '    "b",\n];\n\nconst MORE: u32 = 4;\n',
    },
    {
      edit: 'before',
      symbol: 'Shop.new',
      text: 'fn first() {\n  x()\n}',
      from: '    /// New.\n',
      to: '    fn first() {\n      x()\n    }\n\n    /// New.\n',
    },
    {
      edit: 'replace',
      symbol: 'Shop',
      text: '/// A till.\npub struct Shop<T> {\n    pub till: T,\n}',
      from: '/// A shop.\n#[derive(Debug)]\npub struct Shop<T> {\n    pub name: String,\n}',
      to: '/// A till.\npub struct Shop<T> {\n    pub till: T,\n}',
    },
    {
      edit: 'delete',
      symbol: 'Shop.new',
      from: '    /// New.\n    #[inline]\n    pub fn new(name: String) -> Self {\n        Shop { name }\n    }\n\n',
      to: '',
    },
  ],
};
