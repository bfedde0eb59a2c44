// Preloaded into a process whose clock is wrong by FAULT_CLOCK_SKEW_MS.
const skewMs = Number(process.env['FAULT_CLOCK_SKEW_MS'])
const TrueDate = Date

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, given: ConstructorParameters<typeof Date> | [], newTarget) =>
    Reflect.construct(target, given.length === 0 ? [TrueDate.now() + skewMs] : given, newTarget) as Date,
  apply: () => new TrueDate(TrueDate.now() + skewMs).toString(),
  get: (target, name, receiver) =>
    name === 'now' ? () => TrueDate.now() + skewMs : (Reflect.get(target, name, receiver) as unknown),
})
