%{
#include <stdio.h>
int yylex(void); void yyerror(const char *s);
%}
%token NUM
%left '+' '-'
%left '*' '/'
%%
line: /* empty */ | line expr '\n' { printf("%d\n", $2); } ;
expr: NUM | expr '+' expr { $$ = $1 + $3; } | expr '-' expr { $$ = $1 - $3; } | expr '*' expr { $$ = $1 * $3; } | '(' expr ')' { $$ = $2; } ;
%%
