/* Support vector regression: the prediction side of libsvm's nu-SVR with a radial basis kernel.
 *
 *     f(x) = sum_i coef_i * exp(-gamma * |x - sv_i|^2) - rho
 *
 * Chang, Lin: "LIBSVM: a library for support vector machines", ACM TIST 2(3), 2011. libsvm itself would be the obvious
 * dependency, but all that is needed of it is the sum above, and its reader trusts its input: it takes sizes from the
 * text unchecked and prints to stderr. The model text here may come from anyone, so the reader is ours. */
#ifndef VMAFX_MODEL_SVM_H
#define VMAFX_MODEL_SVM_H

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace vmafx {

class Svm {
 public:
  /* `rows` holds n_features + 1 numbers per support vector: its coefficient, then the vector. */
  Svm(int n_features, double gamma, double rho, std::vector<double> rows)
      : n_features_(n_features), gamma_(gamma), rho_(rho), rows_(std::move(rows)) {}

  /* Reads libsvm's text form. EINVAL when it is not an nu_svr with an rbf kernel, when a number is missing, malformed
   * or not finite, or when a vector names an index beyond n_features or out of order; the sentence names the line. */
  static StatusOr<Svm> parse(std::string_view text, int n_features);

  /* f(x). Sums run in the order of the text, in double, so the result equals libsvm's to the last bit. */
  double predict(std::span<const double> x) const;

  /* The partial derivatives of f at x, one for each feature. Returns f(x). */
  double differentiate(std::span<const double> x, std::span<double> slopes) const;

  int n_features() const { return n_features_; }
  double gamma() const { return gamma_; }
  double rho() const { return rho_; }
  std::span<const double> rows() const { return rows_; }

 private:
  int n_features_;
  double gamma_;
  double rho_;
  std::vector<double> rows_;
};

}  // namespace vmafx

#endif
