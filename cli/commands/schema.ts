import type { Command } from 'commander'
import { z } from 'zod'
import { WorkflowFile } from '#contract/definitions.ts'
import { examples } from '../flags.ts'
import { printOutput } from '../output.ts'
import { terminalOf } from '../terminal.ts'

export function define(schema: Command): void {
  schema
    .description('Print the JSON Schema of workflow files, for editors and programs')
    .addHelpText('after', examples('loam schema > workflow.schema.json'))
    .action(function act(this: Command) {
      const { $schema, $defs } = z.toJSONSchema(WorkflowFile, { io: 'input', unrepresentable: 'any' })
      const { WorkflowFile: file, ...others } = $defs ?? {}
      const data = { $schema, ...file, ...(Object.keys(others).length > 0 ? { $defs: others } : {}) }
      printOutput({ data, text: () => JSON.stringify(data, null, 2) }, terminalOf(this), false)
    })
}
