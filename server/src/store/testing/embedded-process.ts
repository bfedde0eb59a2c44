// Runs `start` or `open` on a data folder in a process of its own: prints the url, then waits for the word `stop`.
import { once } from 'node:events'
import { openEmbedded, startEmbedded } from '../embedded.ts'

const [mode, dataDir] = process.argv.slice(2)
if (!dataDir) throw new Error('usage: embedded-process.ts start|open <data folder>')
const run = mode === 'open' ? openEmbedded : startEmbedded

try {
  const embedded = await run({ dataDir, log: (line) => process.stderr.write(`${line}\n`) })
  process.stdout.write(`${JSON.stringify({ url: embedded.url })}\n`)
  await once(process.stdin, 'data')
  await embedded.stop()
  process.exit(0)
} catch (error) {
  process.stdout.write(
    `${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`,
  )
  process.exit(1)
}
