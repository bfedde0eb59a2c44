// A provider in a process of its own: the argument is how many milliseconds it takes to answer. Prints its address.
import { serveProvider } from '#test/doubles/provider.ts'

const { url } = await serveProvider(Number(process.argv[2]), { company: 'Acme', employees: 120 })
process.stdout.write(`Loam is ready at ${url}\n`)
