// Runs every fault program, one after the other, and names those that had a failed check.
// npm run faults [-- --list | --only r1,r7]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/** The programs in the order in which they run: the longest come last. R8 runs only when it is named. */
const ORDER = `
  r3 r4 r7 r12 r13 r15 r16 r11 r9 endings r2 r6 segments merges pulls crm m1 money r5 r1 r17 fuzz r18 r21 attack r10
`
const ONLY_BY_NAME = ['r8-import', 'r8-export']

const { values } = parseArgs({ options: { list: { type: 'boolean' }, only: { type: 'string' } } })
const all = ORDER.trim().split(/\s+/)
const known = [...all, ...ONLY_BY_NAME]
const chosen = values.only === undefined ? all : values.only.split(',')
const unknown = chosen.filter((name) => !known.includes(name))

if (values.list === true) list()
else if (unknown.length > 0)
  fail(`unknown fault programs: ${unknown.join(', ')}; npm run faults -- --list names them`)
else await runAll(chosen)

function list(): void {
  for (const name of known) print(`npm run faults:${name}\n    ${describe(name)}`)
}

/** Returns the head comment of a program without its command line. */
function describe(name: string): string {
  const lines = readFileSync(pathOf(name), 'utf8').split('\n')
  const head = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('//')),
  )
  return head
    .map((line) => line.slice(3))
    .filter((line) => !line.startsWith('npm run'))
    .join(' ')
}

async function runAll(names: readonly string[]): Promise<void> {
  const failed: string[] = []
  for (const name of names) {
    print(`\n=== ${name}: ${describe(name)}`)
    const program = spawn(process.execPath, [pathOf(name)], { stdio: 'inherit' })
    const [code] = await once(program, 'exit')
    if (code !== 0) failed.push(name)
  }
  if (failed.length === 0) print(`\nall ${names.length} held`)
  else fail(`\n${failed.length} of ${names.length} did not hold: ${failed.join(', ')}`)
}

function pathOf(name: string): string {
  return join(import.meta.dirname, `${name}.ts`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function fail(text: string): void {
  print(text)
  process.exitCode = 1
}
