// Work with JSON, as every JavaScript engine can do it.
function work(args) {
  const rows = args.items.map((item) => ({ ...item, amount: item.qty * item.rate, note: item.code.toUpperCase() }));
  const total = rows.reduce((sum, row) => sum + row.amount, 0);
  const text = JSON.stringify({ ...args, items: rows, total });
  const again = JSON.parse(text);
  return { name: again.name, total: again.total, items: again.items.filter((row) => row.qty > 2) };
}
