import { readdirSync } from 'node:fs'
import { Command } from 'commander'
import { expect, it } from 'vitest'
import { runLoam } from './testing/loam.ts'

const groups = readdirSync(new URL('commands/', import.meta.url))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => file.replace('.ts', ''))
it.each(groups)('every command of %s has a description and an example', async (name) => {
  const group = new Command(name)
  const module: { define: (command: Command) => void } = await import(`./commands/${name}.ts`)
  module.define(group)
  for (const command of group.commands.length > 0 ? group.commands : [group]) {
    let help = ''
    command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp()
    expect(command.description()).not.toBe('')
    expect(help).toMatch(/\nExamples?:\n {2}\$ loam /)
  }
})

it('loam --help lists the commands and the exit codes', async () => {
  const { exit, stdout } = await runLoam(['--help'], {})
  expect(exit).toBe(0)
  for (const name of groups) expect(stdout).toContain(`\n  ${name} `)
  expect(stdout).toMatch(/Exit codes:(\n {2}\d {2}.+){6}/)
})
