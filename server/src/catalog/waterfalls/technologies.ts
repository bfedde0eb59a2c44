import { builtInTechnologies } from '../providers/built_in/technologies.ts'
import { builtwithTechnologies } from '../providers/builtwith/technologies.ts'
import { theirstackTechnologies } from '../providers/theirstack/technologies.ts'

/** Who knows the technologies of a company, in the order of the default. */
export const TECHNOLOGY_SOURCES = [builtInTechnologies, builtwithTechnologies, theirstackTechnologies]
