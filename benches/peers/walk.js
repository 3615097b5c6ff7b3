// The same kind of work in JavaScript: deep recursion through jitted frames, closures and builtins. walk.js SECONDS
const pick = (n) => Math.floor(Math.random() * n);
const build = (depth) => {
  if (depth === 0) return { value: pick(1000) };
  switch (pick(3)) {
    case 0: return { op: "+", items: Array.from({ length: 1 + pick(3) }, () => build(depth - 1)) };
    case 1: return { op: "*", items: [build(depth - 1), build(Math.max(depth - 3, 0))] };
    default: return { op: "-", items: [build(depth - 1)] };
  }
};
const evaluate = (node) => {
  switch (node.op) {
    case "+": return node.items.map(evaluate).reduce((a, b) => a + b, 0);
    case "*": return (evaluate(node.items[0]) * evaluate(node.items[1])) % 1000003;
    case "-": return -evaluate(node.items[0]);
    default: return node.value;
  }
};
const words = (node) => (node.items ? node.items.flatMap(words).sort((a, b) => (a < b ? -1 : 1)) : [`n${node.value}`]);
const end = Date.now() + 1000 * Number(process.argv[2]);
let sum = 0;
while (Date.now() < end) {
  const tree = build(10);
  sum += evaluate(tree) + evaluate(JSON.parse(JSON.stringify(tree))) + words(tree).length;
}
console.log(sum);
