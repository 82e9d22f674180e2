// The work with JSON that runtime/quickjs measures, as every engine can run it.
function work(request) {
  const args = JSON.parse(request);
  const rows = args.items.map((item) => ({ ...item, amount: item.qty * item.rate, note: item.code.toUpperCase() }));
  const total = rows.reduce((sum, row) => sum + row.amount, 0);
  const text = JSON.stringify({ ...args, items: rows, total });
  const again = JSON.parse(text);
  return JSON.stringify({ name: again.name, total: again.total, items: again.items.filter((row) => row.qty > 2) });
}
