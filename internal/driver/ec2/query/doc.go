// Package query calls the actions of EC2's Query API: it posts a form with the name of the action and its parameters, and reads an
// answer in XML.
//
// It takes keys, region, retries and endpoints from the provider's library, so that the same settings hold as for the provider's own
// programs. It does not link that library's package for EC2: berth uses six of its seven hundred actions, and to compile that package
// took a third of the time of the whole program.
package query
