import type { GoldenLanguage } from '../golden.ts';

export const cSharp: GoldenLanguage = {
  path: 'Shop.cs',
  source: `using System;

namespace Shops
{
    /// <summary>A shop.</summary>
    [Serializable]
    public class Shop<T> : Base
    {
        private const int Limit = 3;
        private string name = "x";

        public string Name { get; set; }

        public Shop(string name)
        {
            this.name = name;
        }

        [Obsolete]
        public async Task<int> Add(int item)
        {
            return item;
        }

        public int Twice(int a) => a * 2;

        public int Over(int a) { return a; }

        public int Over(string a) { return 0; }
    }

    public interface IShape { double Area(); }

    public enum Color { Red }
}
`,
  outline: [
    'module Shops',
    'class Shops.Shop',
    'constant Shops.Shop.Limit',
    'field Shops.Shop.name',
    'property Shops.Shop.Name',
    'constructor Shops.Shop.Shop',
    'method Shops.Shop.Add',
    'method Shops.Shop.Twice',
    'method Shops.Shop.Over',
    'method Shops.Shop.Over',
    'interface Shops.IShape',
    'method Shops.IShape.Area',
    'enum Shops.Color',
  ],
  edits: [
    {
      edit: 'body',
      symbol: 'Shop.Add',
      text: 'await Go();\nreturn 1;',
      from: '            return item;\n',
      to: '            await Go();\n            return 1;\n',
    },
    { edit: 'body', symbol: 'Twice', text: 'a + a', from: 'a * 2', to: 'a + a' },
    {
      edit: 'signature',
      symbol: 'Shop.Add',
      text: 'public async Task<int> Add(int item, int n)',
      from: 'public async Task<int> Add(int item)',
      to: 'public async Task<int> Add(int item, int n)',
    },
    {
      edit: 'signature',
      symbol: 'Twice',
      text: 'public long Twice(long a)',
      from: 'public int Twice(int a) =>',
      to: 'public long Twice(long a) =>',
    },
    {
      edit: 'after',
      symbol: 'Shop.Add',
      text: 'void More()\n{\n}',
      from: '            return item;\n        }\n',
      to: '            return item;\n        }\n\n        void More()\n        {\n        }\n',
    },
    {
      edit: 'before',
      symbol: 'Shop.Add',
      text: 'void First() { }',
      from: '        [Obsolete]\n',
      to: '        void First() { }\n\n        [Obsolete]\n',
    },
    {
      edit: 'replace',
      symbol: 'Over[1]',
      text: 'public int Over(string b) { return 1; }',
      from: 'public int Over(string a) { return 0; }',
      to: 'public int Over(string b) { return 1; }',
    },
    {
      edit: 'delete',
      symbol: 'Shop.Add',
      from: '\n        [Obsolete]\n        public async Task<int> Add(int item)\n        {\n            return item;\n        }\n',
      to: '',
    },
  ],
};
