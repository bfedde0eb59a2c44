// Runs `start` or `open` on a data folder, prints the URL as JSON, and stops the database on the first input.
import { once } from 'node:events'
import { openEmbedded, startEmbedded } from '../embedded/embedded.ts'

const [mode, dataDir = ''] = process.argv.slice(2)
const run = mode === 'open' ? openEmbedded : startEmbedded

try {
  const embedded = await run({ dataDir, log: (line) => process.stderr.write(`${line}\n`) })
  process.stdout.write(`${JSON.stringify({ url: embedded.url })}\n`)
  await once(process.stdin, 'data')
  await embedded.stop()
  process.exit(0)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`)
  process.exit(1)
}
