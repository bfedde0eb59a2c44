import { defineBuiltIn } from '../../provider.ts'

export const builtIn = defineBuiltIn('built_in', 'Built-in')
