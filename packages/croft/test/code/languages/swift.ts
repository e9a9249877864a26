import type { GoldenLanguage } from '../golden.ts';

export const swift: GoldenLanguage = {
  path: 'Shop.swift',
  source: `import Foundation

/// A shop.
@available(iOS 13, *)
public class Shop<T>: Base {
    let name: String = "x"

    init(name: String) {
        self.name = name
    }

    /// Adds.
    @discardableResult
    public func add<K>(_ item: K) async throws -> K {
        return item
    }

    func over(a: Int) -> Int { return a }

    func over(a: String) -> Int { return 0 }
}

struct Point {
    var x: Int
}

enum Color { case red }

protocol Shape {
    func area() -> Double
}

extension Shop {
    func extra() {}
}

func top() -> Int {
    func nested() -> Int { 1 }
    return nested()
}

let limit = 3
`,
  outline: [
    'class Shop',
    'property Shop.name',
    'constructor Shop.init',
    'method Shop.add',
    'method Shop.over',
    'method Shop.over',
    'struct Point',
    'property Point.x',
    'enum Color',
    'interface Shape',
    'method Shape.area',
    'method Shop.extra',
    'function top',
    'function top.nested',
    'constant limit',
  ],
  edits: [
    {
      edit: 'body',
      symbol: 'Shop.add',
      text: 'if true {\n    go()\n}\nreturn item',
      from: '        return item\n',
      to: '        if true {\n            go()\n        }\n        return item\n',
    },
    { edit: 'body', symbol: 'Shop.over[1]', text: 'return 1', from: '{ return 0 }', to: '{ return 1 }' },
    { edit: 'body', symbol: 'nested', text: '2', from: '{ 1 }', to: '{ 2 }' },
    {
      edit: 'signature',
      symbol: 'Shop.add',
      text: 'public func add<K>(_ item: K) -> K',
      from: 'public func add<K>(_ item: K) async throws -> K',
      to: 'public func add<K>(_ item: K) -> K',
    },
    {
      edit: 'after',
      symbol: 'Shop.add',
      text: 'func more() {}',
      from: '        return item\n    }\n',
      to: '        return item\n    }\n\n    func more() {}\n',
    },
    {
      edit: 'before',
      symbol: 'Shop.add',
      text: 'func first() {}',
      from: '    /// Adds.\n',
      to: '    func first() {}\n\n    /// Adds.\n',
    },
    { edit: 'replace', symbol: 'limit', text: 'let limit = 4', from: 'let limit = 3', to: 'let limit = 4' },
    {
      edit: 'delete',
      symbol: 'Shop.add',
      from: '\n    /// Adds.\n    @discardableResult\n    public func add<K>(_ item: K) async throws -> K {\n        return item\n    }\n',
      to: '',
    },
  ],
};
