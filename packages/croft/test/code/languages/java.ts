import type { GoldenLanguage } from '../golden.ts';

export const java: GoldenLanguage = {
  path: 'Shop.java',
  source: `package a;

/** A shop. */
@Service
public class Shop<T> extends Base {
    public static final int LIMIT = 3;
    private String name = "x";

    @Inject
    public Shop(String name) {
        this.name = name;
    }

    /** Adds. */
    @Override
    @Timed(value = "x")
    public <K> K add(K item) throws IOException {
        return item;
    }

    public int over(int a) { return a; }

    public int over(String a) { return 0; }

    abstract void close();

    enum Color { RED }

    interface Shape { double area(); }
}
`,
  outline: [
    'class Shop',
    'constant Shop.LIMIT',
    'field Shop.name',
    'constructor Shop.Shop',
    'method Shop.add',
    'method Shop.over',
    'method Shop.over',
    'method Shop.close',
    'enum Shop.Color',
    'interface Shop.Shape',
    'method Shop.Shape.area',
  ],
  edits: [
    {
      edit: 'body',
      symbol: 'Shop.add',
      text: 'if (item == null) {\n    return null;\n}\nreturn item;',
      from: '        return item;\n',
      to: '        if (item == null) {\n            return null;\n        }\n        return item;\n',
    },
    { edit: 'body', symbol: 'Shop.over[1]', text: 'return 1;', from: '{ return 0; }', to: '{ return 1; }' },
    {
      edit: 'body',
      symbol: 'Shop.add',
      text: 'return """\n  x\n""";',
      from: '        return item;\n',
      to: '        return """\n  x\n""";\n',
    },
    {
      edit: 'signature',
      symbol: 'Shop.add',
      text: 'public <K> K add(K item, int count)',
      from: 'public <K> K add(K item) throws IOException',
      to: 'public <K> K add(K item, int count)',
    },
    {
      edit: 'signature',
      symbol: 'Shop.close',
      text: 'abstract void close(int code)',
      from: 'abstract void close();',
      to: 'abstract void close(int code);',
    },
    {
      edit: 'after',
      symbol: 'Shop.add',
      text: 'void more() {}',
      from: '        return item;\n    }\n',
      to: '        return item;\n    }\n\n    void more() {}\n',
    },
    {
      edit: 'before',
      symbol: 'Shop.add',
      text: '/** First. */\nvoid first() {}',
      from: '    /** Adds. */\n',
      to: '    /** First. */\n    void first() {}\n\n    /** Adds. */\n',
    },
    {
      edit: 'replace',
      symbol: 'Shop.over[0]',
      text: 'public int over(int a) {\n    return 2;\n}',
      from: 'public int over(int a) { return a; }',
      to: 'public int over(int a) {\n        return 2;\n    }',
    },
    {
      edit: 'delete',
      symbol: 'Shop.add',
      from: '\n    /** Adds. */\n    @Override\n    @Timed(value = "x")\n    public <K> K add(K item) throws IOException {\n        return item;\n    }\n',
      to: '',
    },
  ],
};
