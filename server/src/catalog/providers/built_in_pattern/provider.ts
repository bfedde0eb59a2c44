import { defineBuiltIn } from '../../provider.ts'

export const builtInPattern = defineBuiltIn('built_in_pattern', 'Built-in pattern')
